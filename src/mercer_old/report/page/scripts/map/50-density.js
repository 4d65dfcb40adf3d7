// How dense points lie: counts on a grid of a few pixels, smoothed; as a shade, and as lines of equal density.
const CELL = 4; // pixels

class Density {
  constructor(panel, x, y, colors) {
    const { left, top, width, height } = panel.plot;
    this.across = Math.max(2, Math.ceil(width / CELL));
    this.up = Math.max(2, Math.ceil(height / CELL));
    const size = this.across * this.up;
    const [counts, red, green, blue] = [0, 1, 2, 3].map(() => new Float32Array(size));
    const to = panel.toPixels();
    for (let row = 0; row < x.length; row++) {
      if (x[row] === NO_PLACE || y[row] === NO_PLACE) continue;
      const u = Math.floor((to.left + x[row] * to.right - left) / CELL);
      const v = Math.floor((to.top + y[row] * to.down - top) / CELL);
      if (u < 0 || v < 0 || u >= this.across || v >= this.up) continue;
      const cell = v * this.across + u;
      counts[cell]++;
      red[cell] += colors[4 * row];
      green[cell] += colors[4 * row + 1];
      blue[cell] += colors[4 * row + 2];
    }
    [this.counts, this.red, this.green, this.blue] = [counts, red, green, blue].map((values) => this.smooth(values));
    this.most = this.counts.reduce((most, count) => Math.max(most, count), 0);
  }

  // Three running means one after the other are nearly a normal curve.
  smooth(values) {
    for (let pass = 0; pass < 3; pass++) values = this.blurred(this.blurred(values, 1, this.across), this.across, this.up);
    return values;
  }

  blurred(values, step, length, reach = 2) {
    const out = new Float32Array(values.length);
    const other = step === 1 ? this.across : 1;
    for (let line = 0; line < values.length / length; line++) {
      const start = line * other;
      let sum = 0;
      for (let i = -reach; i < length; i++) {
        if (i + reach < length) sum += values[start + (i + reach) * step];
        if (i >= 0) out[start + i * step] = Math.max(0, sum) / (2 * reach + 1);
        if (i - reach >= 0) sum -= values[start + (i - reach) * step];
      }
    }
    return out;
  }

  // As an image: the mean colour of its points, the more opaque the more there are.
  shade() {
    const image = new ImageData(this.across, this.up);
    for (let cell = 0; cell < this.counts.length; cell++) {
      const count = this.counts[cell];
      if (count <= this.most * 1e-4) continue;
      const parts = [this.red[cell] / count, this.green[cell] / count, this.blue[cell] / count];
      image.data.set([...parts, 255 * Math.min(1, Math.sqrt(count / this.most))], 4 * cell);
    }
    const canvas = new OffscreenCanvas(this.across, this.up);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  // Pieces of the line along which the density is this share of its most, by marching squares.
  *contour(share, left, top) {
    const level = this.most * share;
    const at = (u, v) => this.counts[v * this.across + u];
    const place = (u, v, s, t) => {
      const [one, other] = [at(u, v), at(s, t)];
      const part = (level - one) / (other - one);
      return [left + (u + (s - u) * part + 0.5) * CELL, top + (v + (t - v) * part + 0.5) * CELL];
    };
    for (let v = 0; v < this.up - 1; v++) {
      for (let u = 0; u < this.across - 1; u++) {
        const corners = [[u, v], [u + 1, v], [u + 1, v + 1], [u, v + 1]];
        const above = corners.map(([s, t]) => at(s, t) > level);
        const ends = [];
        for (let i = 0; i < 4; i++) {
          const j = (i + 1) % 4;
          if (above[i] !== above[j]) ends.push(place(...corners[i], ...corners[j]));
        }
        for (let i = 0; i + 1 < ends.length; i += 2) yield [ends[i], ends[i + 1]];
      }
    }
  }
}

const LEVELS = [0.02, 0.08, 0.2, 0.4, 0.7];

function drawDensity(context, panel, x, y, colors, shaded, theme) {
  const density = new Density(panel, x, y, colors);
  if (!(density.most > 0)) return;
  const { left, top } = panel.plot;
  context.save();
  context.beginPath();
  context.rect(left, top, panel.plot.width, panel.plot.height);
  context.clip();
  context.imageSmoothingEnabled = true;
  if (shaded) context.drawImage(density.shade(), left, top, density.across * CELL, density.up * CELL);
  context.strokeStyle = theme.ink;
  for (const share of LEVELS) {
    context.globalAlpha = 0.25 + 0.4 * share;
    context.beginPath();
    for (const [from, to] of density.contour(share, left, top)) {
      context.moveTo(...from);
      context.lineTo(...to);
    }
    context.stroke();
  }
  context.restore();
}
