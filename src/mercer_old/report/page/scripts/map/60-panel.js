// One map: two axes, a colour, a camera. Points lie below, words over them, what is pointed at and drawn by hand above.
const EDGE = { left: 58, right: 10, top: 10, bottom: 44 };
const MOST_ZOOM = 4000;

function themeOf(element) {
  const style = getComputedStyle(element);
  const color = (name) => style.getPropertyValue(name).trim();
  return {
    paper: color("--card"), card: color("--card"), ink: color("--ink"), quiet: color("--quiet"), line: color("--line"),
    accent: color("--accent"), arrow: color("--failed"), font: style.fontFamily,
  };
}

class Camera {
  constructor() {
    [this.x, this.y, this.zoom] = [0.5, 0.5, 1]; // centre, as shares of both axes
  }

  set(x, y, zoom) {
    [this.x, this.y] = [Math.min(1.5, Math.max(-0.5, x)), Math.min(1.5, Math.max(-0.5, y))];
    this.zoom = Math.min(MOST_ZOOM, Math.max(0.2, zoom));
  }
}

class Panel {
  constructor(board, pair, color, camera, caption = "") {
    Object.assign(this, { board, pair, color, camera, caption });
    this.canvas = make("canvas", { class: "map-canvas", "aria-hidden": "true" });
    this.words = make("canvas", { class: "map-words", "aria-hidden": "true" });
    this.above = make("canvas", {
      class: "map-above", tabindex: "0", role: "application", "aria-roledescription": "map",
      "aria-describedby": `${board.key}-help`,
    });
    this.element = make("div", { class: "map-panel" }, make("div", { class: "map-stack" }, this.canvas, this.words, this.above));
    if (caption) this.element.prepend(make("p", { class: "map-caption" }, own(caption, 60)));
    this.drawn = null; // a line that is drawn by hand
    this.took = 0; // milliseconds of a whole picture
  }

  get axes() {
    return this.pair.map((i) => this.board.cloud.axes[i]);
  }

  // Axes and colours change together, when both are unpacked; what was asked for last is shown.
  async load(pair, color) {
    const { cloud, colours } = this.board;
    const asked = (this.asked = { pair, color });
    const [x, y, colors] = await Promise.all([...pair.map((i) => cloud.axis(i)), colours.of(color)]);
    if (this.asked !== asked) return;
    Object.assign(this, { pair, color, x, y, colors });
    const [across, up] = this.axes.map((axis) => seen(axis.name));
    this.above.setAttribute("aria-label", `Map of ${counted(cloud.count, "row")}: ${across} across, ${up || "nothing"} upwards`);
  }

  get grid() {
    return this.board.gridOf(this.pair, this.x, this.y);
  }

  // ------------------------------------------------------------ places

  // Whether the size has changed.
  measure() {
    const box = this.above.getBoundingClientRect();
    const size = [Math.max(120, box.width), Math.max(120, box.height)];
    const changed = size[0] !== this.width || size[1] !== this.height;
    [this.width, this.height] = size;
    const { left, right, top, bottom } = EDGE;
    this.plot = { left, top, width: this.width - left - right, height: this.height - top - bottom };
    return changed;
  }

  // How long axes are; one on which all rows are alike is as long as the other.
  spans() {
    const lengths = this.axes.map((axis) => axis.step * (NO_PLACE - 1));
    return lengths.map((length) => length || Math.max(...lengths) || 1);
  }

  // Pixels for a unit, of both axes.
  scales() {
    const [across, up] = this.spans();
    const fit = [this.plot.width / across / 1.08, this.plot.height / up / 1.08];
    const scale = this.board.equal ? [Math.min(...fit), Math.min(...fit)] : fit;
    return scale.map((pixels) => pixels * this.camera.zoom);
  }

  centre() {
    const [across, up] = this.spans();
    const middle = (axis, span, share) => axis.low + span * (axis.step ? share : share - 0.5);
    return [middle(this.axes[0], across, this.camera.x), middle(this.axes[1], up, this.camera.y)];
  }

  placeOf(x, y) {
    const [[cx, cy], [sx, sy], { left, top, width, height }] = [this.centre(), this.scales(), this.plot];
    return [left + width / 2 + (x - cx) * sx, top + height / 2 - (y - cy) * sy];
  }

  valueAt(x, y) {
    const [[cx, cy], [sx, sy], { left, top, width, height }] = [this.centre(), this.scales(), this.plot];
    return [cx + (x - left - width / 2) / sx, cy - (y - top - height / 2) / sy];
  }

  // From codes to pixels: left + code · right, top + code · down.
  toPixels() {
    const [[cx, cy], [sx, sy], { left, top, width, height }, [a, b]] = [this.centre(), this.scales(), this.plot, this.axes];
    return {
      left: left + width / 2 + (a.low - cx) * sx, right: a.step * sx,
      top: top + height / 2 - (b.low - cy) * sy, down: -b.step * sy,
    };
  }

  // Of an axis without length all codes are 0, wherever one looks.
  codeAt(x, y) {
    const to = this.toPixels();
    const code = (place, start, step) => (step ? (place - start) / step : place - start);
    return [code(x, to.left, to.right), code(y, to.top, to.down)];
  }

  placeOfRow(row) {
    if (row < 0 || this.x[row] === NO_PLACE || this.y[row] === NO_PLACE) return null;
    const to = this.toPixels();
    return [to.left + this.x[row] * to.right, to.top + this.y[row] * to.down];
  }

  holds(x, y) {
    const { left, top, width, height } = this.plot;
    return x >= left && x <= left + width && y >= top && y <= top + height;
  }

  rowAt(x, y, reach = 12) {
    const to = this.toPixels();
    const halves = [to.right, to.down].map((pixels) => reach / (Math.abs(pixels) || 1));
    return this.holds(x, y) ? this.grid.nearest(...this.codeAt(x, y), ...halves) : -1;
  }

  // How far an arrow may reach at first, in units of the axes.
  reachFromZero() {
    const [across, up] = this.spans();
    return 0.45 * Math.min(across, up);
  }

  move(right, down) {
    const [[sx, sy], [across, up]] = [this.scales(), this.spans()];
    this.camera.set(this.camera.x - right / sx / across, this.camera.y + down / sy / up, this.camera.zoom);
  }

  // Zoom by a factor; what is at this place stays there.
  zoomAt(factor, x = this.plot.left + this.plot.width / 2, y = this.plot.top + this.plot.height / 2) {
    const before = this.valueAt(x, y);
    this.camera.set(this.camera.x, this.camera.y, this.camera.zoom * factor);
    const after = this.valueAt(x, y);
    const spans = this.spans();
    const shift = (i) => (before[i] - after[i]) / spans[i];
    this.camera.set(this.camera.x + shift(0), this.camera.y + shift(1), this.camera.zoom);
  }
}
