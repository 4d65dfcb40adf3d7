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
    const [right, down] = [(place[0] * width) / 2 / 65535, (-place[1] * height) / 2 / 65535];
    const [left, top] = [((place[2] + 1) * width) / 2, ((1 - place[3]) * height) / 2];
    const blend = blender(muted, opacity);
    const edge = dot.reach;
    for (let i = 0; i < count; i++) {
      const row = order[i];
      if (x[row] === NO_PLACE || y[row] === NO_PLACE) continue;
      const u = (left + x[row] * right - dot.half) | 0;
      const v = (top + y[row] * down - dot.half) | 0;
      if (u < 0 || v < 0 || u >= width - edge || v >= height - edge) continue;
      const at = v * width + u;
      const color = blend.color(own[row]);
      for (const step of dot.steps) pixels[at + step] = blend.opaque ? color : blend.over(pixels[at + step], color);
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
  return { steps, half: side / 2 - 0.5, reach: side };
}

// Colours as numbers 0xAABBGGRR.
function blender([red, green, blue, share], opacity) {
  const alpha = Math.round(255 * opacity);
  const mixed = (color, place, other) => Math.round(((color >> place) & 255) * (1 - share) + 255 * other * share) << place;
  const color = share
    ? (one) => (0xff000000 | mixed(one, 16, blue) | mixed(one, 8, green) | mixed(one, 0, red)) >>> 0
    : (one) => (one | 0xff000000) >>> 0;
  const over = (under, one) => {
    const below = under >>> 24;
    const sum = alpha + (below * (255 - alpha)) / 255;
    const part = (place) =>
      Math.round((((one >> place) & 255) * alpha + (((under >> place) & 255) * below * (255 - alpha)) / 255) / sum) << place;
    return ((Math.round(sum) << 24) | part(16) | part(8) | part(0)) >>> 0;
  };
  return { color, over, opaque: alpha === 255 };
}
