// What is on the page as a document: points, classes and settings, with steps back and forth.

const MOST_POINTS = 300, MOST_STEPS = 200;

/** Coordinates have so many decimals, that a link and a file hold them to the last digit. */
function rounded(value, decimals) {
  return decimals >= 0 ? Math.round(value * 10 ** decimals) / 10 ** decimals : Math.round(value / 10 ** -decimals) * 10 ** -decimals;
}

/** A document of its own from an example of the page. */
function documentOf(preset) {
  return {
    preset: preset.name, edited: false, decimals: preset.decimals, view: { ...preset.view },
    points: preset.points.map((point) => [...point]), classes: [...preset.classes],
    params: { ...preset.params }, shown: { axes: true, feet: false, graph: false, ...preset.shown }, backdrop: preset.backdrop, pair: 0,
  };
}

function copyOf(doc) {
  return {
    ...doc, view: { ...doc.view }, params: { ...doc.params }, shown: { ...doc.shown },
    points: doc.points.map((point) => [...point]), classes: [...doc.classes],
  };
}

class Steps {
  constructor() { this.back = []; this.forth = []; }

  /** Before a change: where to return to. */
  keep(doc) {
    this.back.push(copyOf(doc));
    if (this.back.length > MOST_STEPS) this.back.shift();
    this.forth = [];
  }

  undo(doc) { return this._move(this.back, this.forth, doc); }

  redo(doc) { return this._move(this.forth, this.back, doc); }

  _move(from, to, doc) {
    if (!from.length) return null;
    to.push(copyOf(doc));
    return from.pop();
  }
}

/** The view that shows all points, with room to drag them. */
function viewOf(points) {
  if (!points.length) return { x: 0, y: 0, half: 1 };
  const ends = [0, 1].map((c) => points.reduce(([low, high], p) => [Math.min(low, p[c]), Math.max(high, p[c])], [Infinity, -Infinity]));
  const half = 0.65 * Math.max(ends[0][1] - ends[0][0], ends[1][1] - ends[1][0]);
  return { x: (ends[0][0] + ends[0][1]) / 2, y: (ends[1][0] + ends[1][1]) / 2, half: half > 0 ? half : Math.abs(ends[0][0]) || 1 };
}

/** Decimals that leave a millionth of the view, or a bit less. */
function decimalsFor(half) {
  return 6 - Math.ceil(Math.log10(half));
}

function withinView(doc, [x, y]) {
  const { view, decimals } = doc, clamp = (value, middle) => Math.min(Math.max(value, middle - view.half), middle + view.half);
  return [rounded(clamp(x, view.x), decimals), rounded(clamp(y, view.y), decimals)];
}
