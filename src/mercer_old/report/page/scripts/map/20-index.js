// A grid over the plane of two axes: rows by cells, so that neighbours are found without asking all.
class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    const bits = Math.min(9, Math.max(3, Math.round(Math.log2(x.length + 1) / 2 - 1)));
    this.shift = 16 - bits;
    this.side = 1 << bits;
    this.starts = new Uint32Array(this.side * this.side + 1);
    this.fill();
  }

  cell(row) {
    return (this.y[row] >> this.shift) * this.side + (this.x[row] >> this.shift);
  }

  fill() {
    const { x, y, starts } = this;
    const placed = (row) => x[row] !== NO_PLACE && y[row] !== NO_PLACE;
    for (let row = 0; row < x.length; row++) if (placed(row)) starts[this.cell(row) + 1]++;
    for (let cell = 0; cell < starts.length - 1; cell++) starts[cell + 1] += starts[cell];
    const next = starts.slice(0, -1);
    this.rows = new Uint32Array(starts[starts.length - 1]);
    for (let row = 0; row < x.length; row++) if (placed(row)) this.rows[next[this.cell(row)]++] = row;
  }

  clamp(code) {
    return Math.min(this.side - 1, Math.max(0, Math.floor(code) >> this.shift));
  }

  // Every row of the cells that a box touches.
  *near(left, bottom, right, top) {
    const far = 65536;
    if (right < 0 || top < 0 || left >= far || bottom >= far) return;
    const [from, to] = [this.clamp(Math.max(left, 0)), this.clamp(Math.min(right, far - 1))];
    for (let v = this.clamp(Math.max(bottom, 0)); v <= this.clamp(Math.min(top, far - 1)); v++) {
      const [first, last] = [this.starts[v * this.side + from], this.starts[v * this.side + to + 1]];
      for (let i = first; i < last; i++) yield this.rows[i];
    }
  }

  // The row nearest to a place, within an ellipse of these half-widths; −1 if there is none.
  nearest(x, y, across, up, allowed = () => true) {
    let best = -1;
    let least = 1;
    for (const row of this.near(x - across, y - up, x + across, y + up)) {
      const far = ((this.x[row] - x) / across) ** 2 + ((this.y[row] - y) / up) ** 2;
      if (far <= least && (far < least || row > best) && allowed(row)) [best, least] = [row, far];
    }
    return best;
  }

  // All rows within a closed line, by the even-odd rule. Cells that it does not cross are taken whole, or not.
  within(line) {
    const found = new Uint8Array(this.x.length);
    const size = 1 << this.shift;
    for (const [v, crossed] of this.crossedBy(line)) {
      const inner = crossings(line, (v + 0.5) * size);
      for (let u = 0; u < this.side; u++) {
        const cell = v * this.side + u;
        if (this.starts[cell] === this.starts[cell + 1]) continue;
        const whole = !crossed[u];
        if (whole && !oddBelow(inner, (u + 0.5) * size)) continue;
        for (let i = this.starts[cell]; i < this.starts[cell + 1]; i++) {
          const row = this.rows[i];
          if (whole || inside(line, this.x[row], this.y[row])) found[row] = 1;
        }
      }
    }
    return rowsOf(found);
  }

  // For every line of cells that a closed line reaches, which of them it crosses.
  crossedBy(line) {
    const size = 1 << this.shift;
    const lines = new Map();
    for (let i = 0; i < line.length; i++) {
      let [a, b] = [line[i], line[(i + 1) % line.length]];
      if (a[1] > b[1]) [a, b] = [b, a];
      const [first, last] = [Math.max(0, Math.floor(a[1] / size)), Math.min(this.side - 1, Math.floor(b[1] / size))];
      for (let v = first; v <= last; v++) {
        if (!lines.has(v)) lines.set(v, new Uint8Array(this.side));
        const at = (y) => (b[1] === a[1] ? [a[0], b[0]] : [a[0] + ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1])]);
        const ends = [...at(Math.max(a[1], v * size)), ...at(Math.min(b[1], (v + 1) * size))];
        const from = Math.max(0, Math.floor(Math.min(...ends) / size - 1e-6));
        const to = Math.min(this.side - 1, Math.floor(Math.max(...ends) / size + 1e-6));
        for (let u = from; u <= to; u++) lines.get(v)[u] = 1;
      }
    }
    return lines;
  }
}

// Where a closed line crosses a height, from left to right.
function crossings(line, y) {
  const found = [];
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [a, b] = [line[i], line[j]];
    if (a[1] > y !== b[1] > y) found.push(a[0] + ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]));
  }
  return found.sort((one, other) => one - other);
}

function oddBelow(crossed, x) {
  let odd = false;
  for (const place of crossed) if (place < x) odd = !odd;
  return odd;
}

function inside(line, x, y) {
  let odd = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const [a, b] = [line[i], line[j]];
    if (a[1] > y !== b[1] > y && x > a[0] + ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1])) odd = !odd;
  }
  return odd;
}

function rowsOf(mask) {
  let count = 0;
  for (let row = 0; row < mask.length; row++) count += mask[row];
  const rows = new Uint32Array(count);
  for (let row = 0, i = 0; i < count; row++) if (mask[row]) rows[i++] = row;
  return rows;
}
