// How a panel is drawn: at once and in part while it moves, whole when it rests.
const MUTED_OPACITY = 0.3;
const EDGED = 5; // pixels; larger dots have an edge, which tells those apart that overlap

// Dots shrink with their number and grow a little when one comes nearer.
function dotSize(panel, ratio) {
  const count = panel.x.length;
  const room = Math.sqrt((panel.plot.width * panel.plot.height) / Math.max(count, 1));
  const nearer = Math.min(3, panel.camera.zoom ** 0.3);
  return Math.max(1.5, Math.min(9, 1.6 + 0.22 * room) * Math.max(1, nearer)) * ratio;
}

// Opaque while there is room; where dots cover the map many times over, they let each other shine through.
function dotOpacity(panel, size, ratio) {
  const area = panel.plot.width * panel.plot.height * ratio * ratio * panel.camera.zoom ** 2;
  const cover = (panel.x.length * size * size) / Math.max(area, 1);
  return cover < 0.6 ? 1 : Math.max(0.35, 1 / (1 + 0.5 * Math.log2(cover / 0.6)));
}

// Chosen dots are larger than others, the fewer the more; many are not overlooked.
function chosenSize(count) {
  return count < 200 ? 1.8 : count < 20000 ? 1.3 : 1;
}

// A colour as WebGL2 has it.
function shares(hex) {
  return parts(hex).map((part) => part / 255);
}

function styleOf(panel, ratio) {
  const { width, height } = panel.plot;
  const [[cx, cy], [sx, sy], [a, b]] = [panel.centre(), panel.scales(), panel.axes];
  const size = dotSize(panel, ratio);
  return {
    x: panel.x, y: panel.y, colors: panel.colors, size,
    place: [
      (NO_PLACE * a.step * sx * 2) / width, (NO_PLACE * b.step * sy * 2) / height,
      ((a.low - cx) * sx * 2) / width, ((b.low - cy) * sy * 2) / height,
    ],
    opacity: dotOpacity(panel, size, ratio),
    edge: [...shares(panel.board.theme.card), size > EDGED * ratio ? 0.7 * ratio : 0],
  };
}

function drawPoints(context, panel, ratio, most) {
  const { painter, order, selection, theme } = panel.board;
  const { left, top, width, height } = panel.plot;
  const [across, up] = [Math.round(width * ratio), Math.round(height * ratio)];
  const style = styleOf(panel, ratio);
  const muted = [...shares(theme.quiet), 1];
  painter.begin(across, up);
  const all = { ...style, order, count: Math.min(order.length, most), muted: [0, 0, 0, 0] };
  painter.points(selection.some ? { ...all, muted, opacity: Math.min(all.opacity, MUTED_OPACITY) } : all);
  if (selection.some) {
    const rows = panel.board.chosenOrder();
    const larger = all.size * chosenSize(rows.length);
    painter.points({ ...all, order: rows, count: Math.min(rows.length, most), size: larger, opacity: Math.max(all.opacity, 0.7) });
  }
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  painter.show(context, across, up, Math.round(left * ratio), Math.round(top * ratio));
  context.restore();
}

// A layer of a panel, empty, with a pen for it.
function layer(panel, canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  fitCanvas(canvas, panel.width, panel.height, ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, panel.width, panel.height);
  return { context, ratio, pen: new CanvasPen(context, panel.board.theme) };
}

function drawPanel(panel, { moving = false } = {}) {
  const { context, ratio } = layer(panel, panel.canvas);
  const start = performance.now();
  const share = moving && panel.took > 60 ? 40 / panel.took : 1;
  drawGround(context, panel, ratio, Math.max(20000, Math.ceil(share * panel.x.length)), moving);
  if (share === 1) panel.took = performance.now() - start;
  drawWords(layer(panel, panel.words).pen, panel);
  drawAbove(panel);
}

// Points, and how dense they lie.
function drawGround(context, panel, ratio, most, moving = false) {
  const { density, theme } = panel.board;
  drawZeros(new CanvasPen(context, theme), panel, theme);
  if (density !== "density" || moving) drawPoints(context, panel, ratio, most);
  if (density !== "points" && !moving) drawDensity(context, panel, panel.x, panel.y, panel.colors, density === "density", theme);
}

function drawWords(pen, panel) {
  const { board } = panel;
  drawAxes(pen, panel, board.theme);
  const places = new Places(panel.plot);
  if (board.arrows > 0) drawArrows(pen, panel, places, board.cloud.arrows, board.arrows, board.theme);
  if (board.labels === "categories" && panel.medians) {
    drawCategories(pen, panel, places, panel.medians, panel.names, board.theme);
  }
  if (board.labels === "rows") {
    const rows = board.selection.some ? board.selection.rows : someInView(panel);
    drawRowNames(pen, panel, places, rows, (row) => board.nameOf(row), board.theme);
  }
}

// Rows to name, from all over the view: of the first in mixed order, or of all where few of those are in view.
function someInView(panel) {
  const seenRow = (row) => {
    const place = panel.placeOfRow(row);
    return place !== null && panel.holds(...place);
  };
  const first = Array.from(panel.board.order.subarray(0, 4000)).filter(seenRow);
  if (first.length >= MOST_NAMED) return first;
  const { left, top, width, height } = panel.plot;
  const near = panel.grid.near(...panel.codeAt(left, top + height), ...panel.codeAt(left + width, top));
  return Array.from(near).filter(seenRow);
}

function fitCanvas(canvas, width, height, ratio) {
  const [across, up] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== up) [canvas.width, canvas.height] = [across, up];
}

// The row that is pointed at, and the line that is being drawn.
function drawAbove(panel) {
  const { board } = panel;
  const { context, pen } = layer(panel, panel.above);
  const place = panel.placeOfRow(board.selection.pointed);
  if (place && panel.holds(...place)) {
    context.beginPath();
    context.arc(...place, dotSize(panel, 1) / 2 + 4, 0, 2 * Math.PI);
    context.lineWidth = 4;
    context.strokeStyle = board.theme.card;
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = board.theme.ink;
    context.stroke();
  }
  if (panel.drawn && panel.drawn.length > 1) {
    context.globalAlpha = 0.12;
    pen.line(panel.drawn, { color: board.theme.accent, closed: true, fill: board.theme.accent });
    context.globalAlpha = 1;
    pen.line(panel.drawn, { color: board.theme.accent, width: 1.5, dash: [5, 4], closed: true });
  }
}
