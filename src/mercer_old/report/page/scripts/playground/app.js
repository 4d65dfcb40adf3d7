// The page at work: a document, its fits, what is looked at, and when what is computed and drawn anew.

const BACKDROPS = {
  pca1: { kind: "pca", q: 0, name: "PCA f₁" }, pca2: { kind: "pca", q: 1, name: "PCA f₂" },
  ...Object.fromEntries(Array.from({ length: 8 }, (_, q) => [`f${q + 1}`, { kind: "kernel", q, name: `f${"₁₂₃₄₅₆₇₈"[q]}` }])),
  sum: { kind: "sum", name: "F = Σ|fᵢ|" },
};
const PAIRS = [[0, 1], [1, 2], [2, 3], [4, 5], [6, 7]];
const REST = 180; // milliseconds without a change, after which everything is computed to the last digit

class App {
  constructor(presets) {
    this.presets = presets;
    this.steps = new Steps();
    this.hovered = this.chosen = this.brush = null;
    this.tool = "move";
    this.label = 0;
    this.holding = false;
    this.places = [];
    this.panelPlaces = {};
    this.kernelPca = new KernelPca();
    this.lle = new Lle();
    this.heat = document.createElement("canvas");
    this.theme = themeNow();
    this.frames = 0;
    this.open(documentFrom(location.hash, presets) ?? documentOf(presets[0]));
  }

  get preset() { return this.presets.find(({ name }) => name === this.doc.preset); }

  open(doc) {
    this.doc = doc;
    this.hovered = null;
    this.chosen = this.chosen !== null && this.chosen < doc.points.length ? this.chosen : null;
    this.fits = null;
    this.lle.forget();
    this.kernelPca = new KernelPca();
    this.changed();
    this.refreshControls?.();
  }

  /** What is computed is out of date. `moved`: the number of the one point that is elsewhere now. */
  changed(moved = -1) {
    this.moved = this.stale ? (this.moved === moved ? moved : -1) : moved;
    this.stale = true;
    this.redraw();
    document.documentElement.dataset.settled = "no";
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.settle(), REST);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.frame(); });
  }

  frame() {
    if (this.stale) this.fit(false);
    this.draw();
    this.frames++;
  }

  fit(exact) {
    const { points, params } = this.doc, before = this.fits;
    this.fits = {
      pca: pca(points, params),
      kernel: this.kernelPca.fit(points, params, { moved: this.moved, exact }),
      lle: this.lle.fit(points, params, { exact }),
    };
    if (!exact) for (const name of ["pca", "kernel", "lle"]) keepSigns(this.fits[name], before?.[name], points.length);
    this.stale = false;
    this.moved = -1;
  }

  /** The hand rests: every number to the last digit, signs by the rule, words and address up to date. */
  settle() {
    if (this.holding) { this.rest = setTimeout(() => this.settle(), REST); return; }
    this.fit(true);
    this.draw();
    this.tell();
    try { history.replaceState(null, "", linkOf(this.doc)); } catch { /* some browsers keep the address of a file as it is */ }
    document.documentElement.dataset.settled = "yes";
  }

  backdrop() { return this.doc.points.length && BACKDROPS[this.doc.backdrop] || null; }

  /** The field behind the points; who only looks around does not have it computed anew. */
  fieldNow(what) {
    const { fits, doc: { view } } = this, key = [what.name, view.x, view.y, view.half].join(" ");
    if (this.field?.fits !== fits || this.field.key !== key) this.field = { fits, key, values: new Fields(fits, gridOver(view, FINE)).of(what) };
    return this.field.values;
  }

  // Changes of the document. `keep` comes before the first of those that belong together.

  keep() { this.steps.keep(this.doc); showSteps(this); }

  add(place, label = this.label) {
    if (this.doc.points.length >= MOST_POINTS) { this.say(`There are ${MOST_POINTS} points already, and no more are taken.`); return false; }
    this.doc.points.push(withinView(this.doc, place));
    this.doc.classes.push(label);
    this._resized(this.doc.points.map((_, i) => (i < this.doc.points.length - 1 ? i : -1)));
    return true;
  }

  remove(which) {
    const gone = new Set(which), left = this.doc.points.map((_, i) => i).filter((i) => !gone.has(i));
    this.doc.points = left.map((i) => this.doc.points[i]);
    this.doc.classes = left.map((i) => this.doc.classes[i]);
    this.hovered = this.chosen = null;
    this._resized(left);
  }

  _resized(kept) {
    this.kernelPca.resize(kept);
    this.lle.forget();
    this.doc.edited = true;
    this.changed();
  }

  move(i, place) {
    this.doc.points[i] = withinView(this.doc, place);
    this.doc.edited = true;
    this.changed(i);
  }

  paint(which, label) {
    for (const i of which) this.doc.classes[i] = label;
    this.doc.edited = true;
    this.changed();
  }

  set(name, value) {
    this.doc.params[name] = value;
    this.changed();
  }
}

/** While a hand drags, components keep their side; the rule of signs is for answers. */
function keepSigns(fit, before, n) {
  if (!before || before.n !== fit.n || !fit.scores.length) return;
  const count = Math.min(fit.scores[0].length, before.scores[0].length);
  for (let q = 0; q < count; q++) {
    let same = 0;
    for (let i = 0; i < n; i++) same += fit.scores[i][q] * before.scores[i][q];
    if (same >= 0) continue;
    for (const row of fit.scores) row[q] = -row[q];
    if (fit.axes) fit.axes[q] = fit.axes[q].map((entry) => -entry);
    if (fit.vectors) for (let i = 0; i < n; i++) fit.vectors[q * n + i] *= -1;
  }
}
