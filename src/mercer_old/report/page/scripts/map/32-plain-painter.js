// The same pictures without WebGL2, pixel by pixel: for browsers that have none, or whose context was lost.
class PlainPainter {
  constructor() {
    this.works = true;
  }

  forget() {}

  begin(width, height) {
    if (this.width !== width || this.height !== height) {
      [this.width, this.height] = [width, height];
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
  }

  points({ x, y, colors, order, count, place, size, muted, opacity }) {
    const { width, height, pixels } = this;
    const dot = dotOf(size, width);
    const own = new Uint32Array(colors.buffer);
    const [right, down] = [(place[0] * width) / 2 / NO_PLACE, (-place[1] * height) / 2 / NO_PLACE];
    const [left, top] = [((place[2] + 1) * width) / 2 - dot.half, ((1 - place[3]) * height) / 2 - dot.half];
    const [most, alpha, one] = [Math.min(count, order.length), Math.round(255 * opacity), muted[3] ? mutedColor(muted) : 0];
    for (let i = 0; i < most; i++) {
      const row = order[i];
      const [u, v] = [Math.floor(left + x[row] * right), Math.floor(top + y[row] * down)];
      if (!(u >= 0 && v >= 0 && u < width - dot.side && v < height - dot.side)) continue;
      if (x[row] === NO_PLACE || y[row] === NO_PLACE) continue;
      const [at, color] = [v * width + u, one || own[row]];
      for (let j = 0; j < dot.steps.length; j++) {
        const pixel = at + dot.steps[j];
        pixels[pixel] = alpha === 255 ? color : over(pixels[pixel], color, alpha);
      }
    }
  }

  show(context, width, height, left = 0, top = 0) {
    const held = new OffscreenCanvas(width, height);
    held.getContext("2d").putImageData(this.image, 0, 0);
    context.drawImage(held, left, top);
  }
}

// The pixels of a round dot, as steps from its first.
function dotOf(size, width) {
  const side = Math.max(1, Math.round(size));
  const steps = [];
  for (let v = 0; v < side; v++) {
    for (let u = 0; u < side; u++) {
      const far = Math.hypot(u + 0.5 - side / 2, v + 0.5 - side / 2);
      if (side < 3 || far <= side / 2) steps.push(v * width + u);
    }
  }
  return { steps: Int32Array.from(steps), half: side / 2 - 0.5, side };
}

// Colours as numbers 0xAABBGGRR.
function mutedColor([red, green, blue]) {
  return asNumber([red, green, blue].map((part) => Math.round(255 * part)));
}

// A colour of some opacity over a pixel that is full of others, or empty.
function over(under, color, alpha) {
  const below = (under >>> 24) * (255 - alpha);
  const sum = 255 * alpha + below;
  const weight = (256 * 255 * alpha) / sum;
  const rest = 256 - weight;
  const blue = (((color >> 16) & 255) * weight + ((under >> 16) & 255) * rest) >> 8;
  const green = (((color >> 8) & 255) * weight + ((under >> 8) & 255) * rest) >> 8;
  const red = ((color & 255) * weight + (under & 255) * rest) >> 8;
  return ((((sum / 255) & 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
