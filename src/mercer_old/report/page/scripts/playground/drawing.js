// All that is drawn and said of the fits.

const byId = (id) => document.getElementById(id);

App.prototype.draw = function draw() {
  const { fits, doc, theme } = this;
  if (!fits) return;
  drawPlane(byId("plane"), this, theme);
  this.panelPlaces = {
    pca: drawScores(byId("pca-scores"), fits.pca.scores, [0, 1], this, theme, "no direction to find"),
    kernel: drawScores(byId("kernel-scores"), fits.kernel.scores, PAIRS[doc.pair], this, theme, "nothing to tell apart"),
    lle: drawScores(byId("lle-scores"), fits.lle.scores, [0, 1], this, theme, "nothing to embed"),
  };
  this.drawTheRest();
  this.tellFigures();
};

/** The scree and the tiles, which change with the fits alone; a hand that drags looks elsewhere every other time. */
App.prototype.drawTheRest = function drawTheRest() {
  const state = [this.fits, this.doc.view.half, this.doc.view.x, this.doc.view.y, this.doc.backdrop, this.looks];
  if (this.drawn?.every((each, i) => each === state[i]) || (this.holding && this.frames % 2)) return;
  drawScree(byId("scree"), this.fits, this.theme);
  this.drawTiles();
  this.drawn = state;
};

App.prototype.drawTiles = function drawTiles() {
  const fields = new Fields(this.fits, gridOver(this.doc.view, COARSE));
  for (const [name, what] of Object.entries(BACKDROPS)) {
    const tile = byId(`tile-${name}`), sum = what.kind === "sum";
    drawTile(tile.querySelector("canvas"), fields.of(what), this.theme, sum);
    const value = what.kind === "kernel" ? this.fits.kernel.values[what.q] : what.kind === "pca" ? this.fits.pca.variances[what.q] : null;
    setText(tile.querySelector(".tile-value"), value === null || value === undefined ? "" : figure(value, 3));
    const pressed = String(this.doc.backdrop === name);
    if (tile.getAttribute("aria-pressed") !== pressed) tile.setAttribute("aria-pressed", pressed);
  }
};

/** Only what has changed is written: the page is laid out anew by it. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The few figures that follow every frame. */
App.prototype.tellFigures = function tellFigures() {
  const { pca, kernel, lle } = this.fits;
  setText(byId("pca-figures"), this.doc.points.length > 1 ? `variances ${figure(pca.variances[0], 3)} and ${figure(pca.variances[1], 3)}` : "");
  setText(byId("kernel-figures"), kernel.values.length ? `η = ${kernel.values.slice(0, 3).map((value) => figure(value, 3)).join(", ")} …` : "");
  setText(byId("lle-figures"), lle.n > 1 ? `error ${figure(lle.error, 3)} · ${counted(lle.parts, "part")}` : "");
  setText(byId("count"), `${counted(this.doc.points.length, "point")} of at most ${MOST_POINTS}`);
  this.tellPoint();
};

/** The point that is looked at, or chosen, in all pictures. */
App.prototype.tellPoint = function tellPoint() {
  const i = this.hovered ?? this.chosen, { doc, fits } = this;
  if (i === null || !doc.points[i] || fits.pca.n !== doc.points.length) { setText(byId("readout"), "Drag a point; with Shift its whole colour. Double-click to add one."); return; }
  const pair = (row) => (row?.length ? `(${row.slice(0, 2).map((value) => figure(value, 3)).join(", ")})` : "–");
  setText(byId("readout"), `Point ${i + 1}, ${CLASS_NAMES[doc.classes[i]]}, at ${pair(doc.points[i])}: PCA ${pair(fits.pca.scores[i])}, kernel PCA ${pair(PAIRS[doc.pair].map((q) => fits.kernel.scores[i][q] ?? 0))}, LLE ${pair(fits.lle.scores[i])}`);
};

/** Sentences and the table of numbers, when the hand rests. */
App.prototype.tell = function tell() {
  const said = sentences(this);
  byId("hint").textContent = this.doc.edited ? `${this.preset.hint} (The points are changed: Reset brings them back.)` : this.preset.hint;
  byId("sentences").replaceChildren(...said.map((sentence) => make("p", {}, sentence)));
  byId("numbers").replaceChildren(...numbersOf(this.fits).map((cells) => {
    const head = !/^(component|error|left|reconstruction)/.test(cells[0]);
    return make("tr", head ? { class: "head" } : {}, ...cells.map((cell, c) => make(head || !c ? "th" : "td", head ? { scope: "col" } : c ? {} : { scope: "row" }, cell)));
  }));
  this.say(said.join(" "));
};

/** For those who listen. */
App.prototype.say = function say(text) { setText(byId("said"), text); };
