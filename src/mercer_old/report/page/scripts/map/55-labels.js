// Names that do not collide: the important first, each where there is room for it, or not at all.
class Places {
  constructor({ left, top, width, height }) {
    this.bounds = [left, top, left + width, top + height];
    this.taken = [];
  }

  free([left, top, right, bottom]) {
    const [a, b, c, d] = this.bounds;
    if (left < a || top < b || right > c || bottom > d) return false;
    return this.taken.every(([l, t, r, u]) => right < l || r < left || bottom < t || u < top);
  }

  // The middle of a free box for a text around one of the offsets; it is taken then.
  find(x, y, width, height, offsets) {
    for (const [across, down] of offsets) {
      const middle = [x + across * (width / 2 + 7), y + down * (height / 2 + 5)];
      const box = [middle[0] - width / 2 - 2, middle[1] - height / 2, middle[0] + width / 2 + 2, middle[1] + height / 2];
      if (!this.free(box)) continue;
      this.taken.push(box);
      return middle;
    }
    return null;
  }
}

const AROUND = [[0, 0], [0, -1], [0, 1], [1, 0], [-1, 0]];
const BESIDE = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];

function drawName(pen, places, text, x, y, offsets, style) {
  const short = shortened(pen, seen(text), 150, style.size);
  const middle = places.find(x, y, pen.width(short, style.size, style.bold), style.size * 1.3, offsets);
  if (middle) pen.text(short, ...middle, { align: "center", ...style });
  return middle !== null;
}

const MOST_NAMED = 40; // categories, and rows

// Of the largest categories, the codes of the median along both axes.
function mediansOf(codes, x, y, count) {
  const own = Array.from({ length: Math.min(count, MOST_NAMED) }, () => []);
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] < own.length && x[row] !== NO_PLACE && y[row] !== NO_PLACE) own[codes[row]].push(row);
  }
  const middle = (rows, axis) => Uint16Array.from(rows, (row) => axis[row]).sort()[rows.length >> 1];
  return own.map((rows, code) => ({ code, size: rows.length, x: middle(rows, x), y: middle(rows, y) }))
    .filter(({ size }) => size > 0)
    .sort((one, other) => other.size - one.size);
}

function drawCategories(pen, panel, places, medians, names, theme) {
  const to = panel.toPixels();
  const style = { color: theme.ink, halo: theme.card, size: 13, bold: true };
  for (const { code, x, y } of medians) {
    drawName(pen, places, names[code], to.left + x * to.right, to.top + y * to.down, AROUND, style);
  }
}

function drawRowNames(pen, panel, places, rows, nameOf, theme) {
  const style = { color: theme.ink, halo: theme.card, size: 11, bold: false };
  let named = 0;
  for (const row of rows) {
    const place = panel.placeOfRow(row);
    if (!place || !panel.holds(...place)) continue;
    named += drawName(pen, places, nameOf(row), ...place, BESIDE, style);
    if (named >= MOST_NAMED) return;
  }
}

// The columns that reach farthest in this plane, from the place of all zeros; the longest nearly fills the map at first.
function drawArrows(pen, panel, places, arrows, most, theme) {
  const [i, j] = panel.pair;
  const lengths = arrows.tips.map((tip) => Math.hypot(tip[i] ?? 0, tip[j] ?? 0));
  const order = lengths.map((_, k) => k).filter((k) => lengths[k] > 0).sort((one, other) => lengths[other] - lengths[one]);
  if (!order.length) return;
  const reach = panel.reachFromZero() / lengths[order[0]];
  const start = panel.placeOf(0, 0);
  for (const k of order.slice(0, most)) {
    const end = panel.placeOf((arrows.tips[k][i] ?? 0) * reach, (arrows.tips[k][j] ?? 0) * reach);
    const angle = Math.atan2(end[1] - start[1], end[0] - start[0]);
    const wing = (turn) => [end[0] - 8 * Math.cos(angle + turn), end[1] - 8 * Math.sin(angle + turn)];
    pen.line([start, end], { color: theme.arrow, width: 1.6 });
    pen.line([wing(0.4), end, wing(-0.4)], { color: theme.arrow, width: 1.6 });
    const outward = [[Math.cos(angle), Math.sin(angle)], ...BESIDE];
    drawName(pen, places, arrows.names[k], ...end, outward, { color: theme.arrow, halo: theme.card, size: 12, bold: true });
  }
}
