// A section of the page: its rows, what is shown of them, and all who have to know when that changes.
const CROWD = 50000; // rows whose points overlap so much that lines of equal density help
const FEW = 60; // rows whose names are shown unasked, as in other pictures
const REST = 160; // milliseconds after which a map that moved is drawn whole

class Board {
  constructor(element, record, look, painter) {
    Object.assign(this, { element, look, painter, key: element.id });
    this.cloud = new Cloud(record);
    this.colours = new Colours(this.cloud, look);
    this.selection = Selection.of(element.dataset.link, this.cloud.count);
    this.selection.listeners.push(this);
    this.theme = themeOf(element);
    this.order = shuffled(this.cloud.count);
    this.grids = new Map();
    this.panels = [];
    [this.axisChoices, this.colourChoices] = [[], []];
    Object.assign(this, { tool: "move", equal: true, arrows: 0 });
    this.pointerMoved = false; // over a map since the page scrolled: the wheel is meant for the map then
    this.sides = this.usualSides = this.cloud.views.length ? "views" : "one";
    this.pair = [0, 1];
    this.color = this.cloud.columnNamed(this.cloud.color);
    this.labels = this.usualLabels = this.color < 0 && this.cloud.named && this.cloud.count <= FEW ? "rows" : "categories";
    this.camera = new Camera();
    this.density = this.usualDensity = this.cloud.count > CROWD ? "both" : "points";
  }

  // ------------------------------------------------------------ what rows are

  // All that is known of rows; unpacked after the first picture.
  async details() {
    this.held ??= Promise.all([
      this.cloud.ids(),
      Promise.all(this.cloud.axes.map((_, i) => this.cloud.axis(i))),
      Promise.all(this.cloud.columns.map((_, i) => this.cloud.codes(i))),
      Promise.all(this.cloud.columns.map((column, i) => (column.kind === "category" ? this.cloud.names(i) : null))),
    ]).then(([ids, axes, codes, names]) => (this.known = { ids, axes, codes, names }));
    return this.held;
  }

  nameOf(row) {
    return this.known?.ids ? this.known.ids[row] : `row ${row}`;
  }

  get namedAxes() {
    return this.cloud.axes.filter((axis) => axis.name);
  }

  heads() {
    const [axes, columns] = [this.namedAxes, this.cloud.columns].map((parts) => parts.map((part) => part.name));
    return ["row", ...(this.cloud.named ? ["name"] : []), ...this.inOrder(axes, columns)];
  }

  // Axes before columns; where they are of many maps, columns come first.
  inOrder(axes, columns) {
    return this.cloud.views.length ? [...columns, ...axes] : [...axes, ...columns];
  }

  // Places of the heads that are told beside a point: where maps of several names stand side by side, the axes of its own.
  told(panel) {
    const all = this.heads().map((_, i) => i);
    if (this.sides !== "views") return all;
    const start = this.cloud.named ? 2 : 1;
    const end = start + this.cloud.columns.length;
    return [...all.slice(0, start), ...panel.pair.map((i) => end + i), ...all.slice(start, end)];
  }

  // Numbers and texts, as a file has them.
  values(row) {
    const { ids, axes, codes, names } = this.known;
    const value = (column, i) => (column.kind === "category" ? (names[i][codes[i][row]] ?? "") : toldOf(column, codes[i][row]));
    const scores = this.namedAxes.map((axis, i) => valueOf(axis, axes[i][row]));
    return [row, ...(ids ? [ids[row]] : []), ...this.inOrder(scores, this.cloud.columns.map(value))];
  }

  cells(row) {
    return this.values(row).map((value) => (typeof value === "number" ? cellOf(value) : value));
  }

  gridOf(pair, x, y) {
    const key = pair.join();
    if (!this.grids.has(key)) this.grids.set(key, new Grid(x, y));
    return this.grids.get(key);
  }

  // ------------------------------------------------------------ what is shown

  sideChoices() {
    const { columns, views } = this.cloud;
    return [
      ["one", "one map"], ...(views.length ? [["views", "a map for each name"]] : []),
      ...(columns.length > 1 ? [["colours", "a map for each column"]] : []),
      ...(this.namedAxes.length > 2 && !views.length ? [["components", "a map for each pair of components"]] : []),
    ];
  }

  // Panels for what is asked: one map, one for each of some columns, or one for each pair of components.
  async arrange() {
    const { columns, axes, views } = this.cloud;
    const pairs = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]].filter((pair) => Math.max(...pair) < axes.length);
    const wanted = {
      one: () => [new Panel(this, this.pair, this.color, this.camera)],
      colours: () => columns.slice(0, 6).map((column, i) => new Panel(this, this.pair, i, this.camera, column.name)),
      components: () => pairs.map((pair) => new Panel(this, pair, this.color, new Camera(), pair.map((i) => axes[i].name).join(" × "))),
      views: () => views.map(({ name, x, y }) => new Panel(this, [x, y], this.color, new Camera(), name)),
    }[this.sides]();
    const panels = (this.arranging = wanted.length ? wanted : [new Panel(this, this.pair, this.color, this.camera)]);
    await Promise.all(panels.map((panel) => panel.load(panel.pair, panel.color)));
    if (this.arranging !== panels) return; // something else was asked for meanwhile
    this.panels = panels;
    for (const panel of this.panels) {
      new Gestures(panel);
      listenToKeys(panel);
    }
    this.field.replaceChildren(...this.panels.map((panel) => panel.element));
    this.field.dataset.count = this.panels.length;
    for (const one of this.axisChoices) {
      one.lastChild.disabled = this.sides === "components";
      one.hidden = this.sides === "views"; // each map has axes of its own
    }
    for (const one of this.colourChoices) one.lastChild.disabled = this.sides === "colours";
    this.active = this.panels[0];
    await this.refresh();
  }

  // After axes or colours changed.
  async refresh() {
    const pairOf = (panel) => (["one", "colours"].includes(this.sides) ? this.pair : panel.pair);
    const colorOf = (panel) => (this.sides === "colours" ? panel.color : this.color);
    await Promise.all(this.panels.map((panel) => panel.load(pairOf(panel), colorOf(panel))));
    this.draw();
    await this.legend.show(this.active.color);
    await this.nameCategories();
    this.remember();
  }

  async nameCategories() {
    for (const panel of this.panels) {
      panel.medians = null;
      const column = this.cloud.columns[panel.color];
      if (this.labels !== "categories" || column?.kind !== "category") continue;
      const [codes, names] = await Promise.all([this.cloud.codes(panel.color), this.cloud.names(panel.color)]);
      Object.assign(panel, { names, medians: mediansOf(codes, panel.x, panel.y, column.n_names) });
    }
    this.drawWords();
  }

  drawWords() {
    for (const panel of this.panels) drawWords(layer(panel, panel.words).pen, panel);
  }

  draw(options) {
    for (const panel of this.panels) {
      panel.measure();
      drawPanel(panel, options);
    }
  }

  resized() {
    for (const panel of this.panels) if (panel.measure()) drawPanel(panel);
  }

  // A map moves: at once what can be drawn quickly, the rest when it rests.
  moved(panel) {
    this.tip.hide();
    clearTimeout(this.resting);
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      for (const one of this.panels) if (one.camera === panel.camera) drawPanel(one, { moving: true });
    });
    this.resting = setTimeout(() => {
      this.draw();
      this.remember();
    }, REST);
  }

  zoom(panel, factor, ...place) {
    panel.zoomAt(factor, ...place);
    this.moved(panel);
  }

  fit() {
    for (const panel of this.panels) panel.camera.set(0.5, 0.5, 1);
    this.moved(this.active);
    this.say("All rows are in view.");
  }

  // Rows that are out of view come into it.
  lookAt(rows) {
    const panel = this.active;
    const places = Array.from(rows.slice(0, 2000), (row) => panel.placeOfRow(row)).filter((place) => place);
    if (!places.length || places.some((place) => panel.holds(...place))) return;
    panel.move(panel.plot.left + panel.plot.width / 2 - places[0][0], panel.plot.top + panel.plot.height / 2 - places[0][1]);
    this.moved(panel);
  }

  activate(panel) {
    if (this.active === panel) return;
    this.active = panel;
    this.legend.show(panel.color);
  }

  // ------------------------------------------------------------ what is chosen and pointed at

  chosenOrder() {
    return this.selection.rows;
  }

  click(panel, row, add) {
    if (row >= 0 && add) this.selection.toggle(row);
    else if (row >= 0) this.selection.choose([row], `row ${row}`);
    else if (!add && this.selection.some) this.selection.clear();
    if (row >= 0) this.pointAt(panel, row, panel.placeOfRow(row), true);
  }

  encircle(panel, line, add, how = this.tool === "rectangle" ? "the rectangle" : "the lasso") {
    this.selection.choose(panel.grid.within(line.map((place) => panel.codeAt(...place))), how, add);
  }

  chosen(how) {
    const { rows } = this.selection;
    if (this.lastChosen) this.painter.forget(this.lastChosen);
    this.lastChosen = rows;
    this.draw();
    this.table.show();
    this.say(rows.length ? `${counted(rows.length, "row")} chosen: ${how}.` : "No row is chosen.");
    this.remember();
  }

  pointAt(panel, row, place = null, aloud = false) {
    this.selection.point(row);
    this.tip.show(panel, row, place, aloud);
  }

  pointed() {
    for (const panel of this.panels) drawAbove(panel);
  }

  say(words) {
    this.status.textContent = words;
  }

  // ------------------------------------------------------------ what a link holds

  state() {
    const { camera, selection, cloud } = this;
    const moved = camera.x !== 0.5 || camera.y !== 0.5 || camera.zoom !== 1;
    return {
      x: this.pair[0] === 0 ? "" : this.pair[0], y: this.pair[1] === 1 ? "" : this.pair[1],
      color: this.color === cloud.columnNamed(cloud.color) ? "" : (cloud.columns[this.color]?.name ?? "-"),
      view: moved ? [camera.x, camera.y, camera.zoom].map((part) => part.toPrecision(6)).join() : "",
      equal: this.equal ? "" : "no", density: this.density === this.usualDensity ? "" : this.density,
      labels: this.labels === this.usualLabels ? "" : this.labels, arrows: this.arrows || "", sides: this.sides === this.usualSides ? "" : this.sides,
      rows: selection.some && selection.rows.length <= MOST_ROWS ? asRanges(selection.rows) : "",
    };
  }

  remember() {
    writeState(this.key, this.state());
  }

  recall() {
    const state = readState(this.key);
    const { axes, count } = this.cloud;
    const axis = (given, usual) => (/^\d+$/.test(given) && Number(given) < axes.length ? Number(given) : usual);
    const among = (given, choices, usual) => (choices.includes(given) ? given : usual);
    this.pair = [axis(state.x, 0), axis(state.y, 1)];
    const named = this.cloud.columnNamed(state.color);
    if (named >= 0 || state.color === "-") this.color = named;
    const view = (state.view ?? "").split(",").map(Number);
    if (view.length === 3 && view.every(Number.isFinite)) this.camera.set(...view);
    this.equal = state.equal !== "no";
    this.density = among(state.density, ["points", "both", "density"], this.usualDensity);
    this.labels = among(state.labels, ["none", "rows", "categories"], this.usualLabels);
    this.sides = among(state.sides, this.sideChoices().map(([name]) => name), this.usualSides);
    const arrows = Math.min(Number.parseInt(state.arrows) || 0, this.cloud.arrows?.names.length ?? 0);
    this.arrows = Math.max(0, arrows);
    this.linkedRows = state.rows ? fromRanges(state.rows, count) : [];
  }
}

// The numbers from 0, mixed, and the same on every day: no group lies on top of all others because it came last.
function shuffled(count) {
  const order = new Uint32Array(count);
  let state = 12345;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  return order;
}
