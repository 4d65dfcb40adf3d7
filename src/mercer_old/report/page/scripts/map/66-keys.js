// The same without a mouse: every row can be reached, read out and chosen.
const STEP = 60; // pixels
const KEYS = [
  ["Arrow keys", "move the map"],
  ["+ and −", "zoom; 0 shows all"],
  ["N and P", "the next and the previous row"],
  ["Shift and an arrow key", "the nearest point in that direction"],
  ["Enter or Space", "choose the row, or let it go"],
  ["V", "choose all that is in view"],
  ["Escape", "choose nothing"],
];
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function listenToKeys(panel) {
  const { board } = panel;
  const actions = {
    "+": () => board.zoom(panel, 1.4), "=": () => board.zoom(panel, 1.4),
    "-": () => board.zoom(panel, 1 / 1.4), "_": () => board.zoom(panel, 1 / 1.4),
    0: () => board.fit(), n: () => step(panel, 1), p: () => step(panel, -1),
    Enter: () => toggle(panel), " ": () => toggle(panel), v: () => chooseView(panel), Escape: () => board.selection.clear(),
  };
  panel.above.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = WAYS[event.key];
    const act = way ? () => (event.shiftKey ? jump(panel, way) : shift(panel, way)) : actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  panel.above.addEventListener("focus", () => board.activate(panel));
}

function shift(panel, [right, down]) {
  panel.move(-right * STEP, -down * STEP);
  panel.board.moved(panel);
}

function step(panel, way) {
  const { board } = panel;
  const count = board.cloud.count;
  const from = board.selection.pointed;
  show(panel, from < 0 ? (way > 0 ? 0 : count - 1) : (from + way + count) % count);
}

// The nearest point within a quarter turn of a direction.
function jump(panel, [right, down]) {
  const { plot, board } = panel;
  const from = panel.placeOfRow(board.selection.pointed) ?? [plot.left + plot.width / 2, plot.top + plot.height / 2];
  const to = panel.toPixels();
  const ahead = (row) => {
    const across = to.left + panel.x[row] * to.right - from[0];
    const along = to.top + panel.y[row] * to.down - from[1];
    return row !== board.selection.pointed && across * right + along * down > Math.abs(across * down) + Math.abs(along * right);
  };
  const code = panel.codeAt(...from);
  for (let reach = 16; reach < 6000; reach *= 2) {
    const row = panel.grid.nearest(...code, reach / (Math.abs(to.right) || 1), reach / (Math.abs(to.down) || 1), ahead);
    if (row >= 0) return show(panel, row);
  }
  board.say("No point in that direction.");
}

// Point at a row, bring it into view and read it out.
function show(panel, row) {
  const { board } = panel;
  const place = panel.placeOfRow(row);
  if (place && !panel.holds(...place)) {
    panel.move(panel.plot.left + panel.plot.width / 2 - place[0], panel.plot.top + panel.plot.height / 2 - place[1]);
    board.moved(panel);
  }
  board.pointAt(panel, row, panel.placeOfRow(row), true);
}

function toggle(panel) {
  const { selection } = panel.board;
  if (selection.pointed >= 0) selection.toggle(selection.pointed);
}

function chooseView(panel) {
  const { left, top, width, height } = panel.plot;
  const [a, b, c, d] = [left, top, left + width, top + height];
  panel.board.encircle(panel, [[a, b], [c, b], [c, d], [a, d]], false, "what is in view");
}
