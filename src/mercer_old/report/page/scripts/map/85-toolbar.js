// The controls of a section, around its map.
function choice(label, options, chosen, change) {
  const select = make("select", { onchange: () => change(select.value) }, ...options.map(([value, text]) =>
    make("option", { value, selected: String(value) === String(chosen) }, brief(seen(text), 80))));
  return make("label", { class: "map-choice" }, make("span", {}, label), select);
}

function button(text, name, press) {
  return make("button", { type: "button", "aria-label": name, title: name, onclick: press }, text);
}

function tools(board) {
  const names = { move: "Move", lasso: "Lasso", rectangle: "Rectangle" };
  const buttons = Object.entries(names).map(([tool, text]) =>
    make("button", { type: "button", "data-tool": tool, "aria-pressed": String(board.tool === tool), onclick: () => take(tool) }, text));
  const take = (tool) => {
    board.tool = tool;
    for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.tool === tool));
    board.field.dataset.tool = tool;
    board.say({ move: "Dragging moves the map.", lasso: "Draw around points.", rectangle: "Draw a rectangle." }[tool]);
  };
  return make("div", { class: "map-group", role: "group", "aria-label": "What dragging does" }, ...buttons);
}

function zoomButtons(board) {
  return make("div", { class: "map-group", role: "group", "aria-label": "Zoom" },
    button("−", "Zoom out", () => board.zoom(board.active, 1 / 1.5)),
    button("+", "Zoom in", () => board.zoom(board.active, 1.5)),
    button("All", "Show all rows", () => board.fit()));
}

function axisChoices(board) {
  const options = board.cloud.axes.map((axis, i) => [i, axis.name]);
  if (board.namedAxes.length < 2) return [];
  const change = (place) => (value) => {
    board.pair = board.pair.map((i, j) => (j === place ? Number(value) : i));
    board.refresh();
  };
  board.axisChoices = [choice("Across", options, board.pair[0], change(0)), choice("Upwards", options, board.pair[1], change(1))];
  return board.axisChoices;
}

function colourChoice(board) {
  if (!board.cloud.columns.length) return [];
  const options = [[-1, "one colour"], ...board.cloud.columns.map((column, i) => [i, column.name])];
  board.colourChoices = [choice("Colour by", options, board.color, (value) => {
    board.color = Number(value);
    board.refresh();
  })];
  return board.colourChoices;
}

function moreChoices(board) {
  const set = (name, then) => (value) => {
    board[name] = value;
    then();
    board.remember();
  };
  const sides = board.sideChoices();
  const densities = [["points", "points"], ["both", "points and lines of equal density"], ["density", "density alone"]];
  const labels = [["categories", "categories"], ["rows", "rows"], ["none", "nothing"]];
  const parts = [
    ...(sides.length > 1 ? [choice("Side by side", sides, board.sides, set("sides", () => board.arrange()))] : []),
    choice("Show", densities, board.density, set("density", () => board.draw())),
    choice("Names of", labels, board.labels, set("labels", () => board.details().then(() => board.nameCategories()))),
    equalSwitch(board), ...arrowSlider(board),
  ];
  const files = make("div", { class: "map-group", role: "group", "aria-label": "Save the picture" }, make("span", { class: "map-quiet" }, "Save as "),
    button("PNG", "Save as PNG", () => pngOf(board.active).toBlob((blob) => download(`${board.key}.png`, blob, "image/png"))),
    button("SVG", "Save as SVG", () => download(`${board.key}.svg`, svgOf(board.active), "image/svg+xml")));
  return make("details", { class: "map-options" }, make("summary", {}, "More"), make("div", { class: "map-bar" }, ...parts, files));
}

function equalSwitch(board) {
  const box = make("input", { type: "checkbox", checked: board.equal, onchange: () => {
    board.equal = box.checked;
    board.draw();
    board.remember();
  } });
  return make("label", { class: "map-switch" }, box, "Same scale on both axes");
}

function arrowSlider(board) {
  if (!board.cloud.arrows) return [];
  const most = Math.min(50, board.cloud.arrows.names.length);
  const slider = make("input", { type: "range", min: 0, max: most, value: board.arrows, oninput: () => {
    board.arrows = Number(slider.value);
    said.textContent = slider.value;
    board.drawWords();
    board.remember();
  } });
  const said = make("output", {}, String(board.arrows));
  return [make("label", { class: "map-choice" }, make("span", {}, "Arrows of columns: ", said), slider)];
}

function helpOf(board) {
  const keys = KEYS.flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)]);
  const words = "Drag to move, turn the wheel or pinch to zoom, click a point or a line of the legend to choose rows, with Shift to add them. With the keyboard, on the map:";
  return make("details", { class: "map-help" }, make("summary", {}, "How to use this map"),
    make("p", { id: `${board.key}-help` }, words), make("dl", {}, ...keys));
}

// Everything around the map, in the order in which it is read and reached.
function furnish(board) {
  board.search = new Search(board);
  board.legend = new Legend(board);
  board.table = new Table(board);
  board.status = make("p", { class: "map-status", role: "status", "aria-live": "polite" });
  board.tip = new Tip(board);
  board.field = make("div", { class: "map-field", "data-tool": "move" });
  const bar = make("div", { class: "map-bar" }, ...axisChoices(board), ...colourChoice(board), board.search.element, tools(board), zoomButtons(board));
  const side = make("div", { class: "map-side" }, board.legend.element);
  return [bar, moreChoices(board), make("div", { class: "map-body" }, board.field, side), board.status, board.table.element, helpOf(board)];
}
