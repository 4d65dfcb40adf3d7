// The map as a file: pixels, twice as fine as the screen, or lines and words that can be edited.
const MOST_SHAPES = 20000; // points that are drawn one by one in an SVG; of more, an image

function pngOf(panel) {
  const canvas = make("canvas");
  const ratio = 2;
  fitCanvas(canvas, panel.width, panel.height, ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawGround(context, panel, ratio, Infinity);
  drawWords(new CanvasPen(context, panel.board.theme), panel);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = panel.board.theme.paper;
  context.fillRect(0, 0, panel.width, panel.height);
  return canvas;
}

function svgOf(panel) {
  const { board } = panel;
  const pen = new SvgPen(panel.width, panel.height, board.theme);
  const clip = pen.add(pen.root, "clipPath", { id: "plot" });
  const { left, top, width, height } = panel.plot;
  pen.add(clip, "rect", { x: left, y: top, width, height });
  const group = pen.add(pen.root, "g", { "clip-path": "url(#plot)" });
  if (board.cloud.count > MOST_SHAPES || board.density !== "points") {
    const canvas = make("canvas");
    fitCanvas(canvas, panel.width, panel.height, 2);
    const context = canvas.getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    drawGround(context, panel, 2, Infinity);
    pen.add(group, "image", { href: canvas.toDataURL("image/png"), width: panel.width, height: panel.height });
  } else {
    shapes(pen, group, panel);
  }
  drawWords(pen, panel);
  return pen.toText();
}

// A path of round strokes without length for every colour.
function shapes(pen, group, panel) {
  const { selection, theme, order } = panel.board;
  const [muted, own] = [[], new Map()];
  for (const row of order) {
    const place = panel.placeOfRow(row);
    if (!place || !panel.holds(...place)) continue;
    const dot = `M${place[0].toFixed(1)} ${place[1].toFixed(1)}h0`;
    const color = `rgb(${panel.colors.subarray(4 * row, 4 * row + 3).join(",")})`;
    if (selection.some && !selection.mask[row]) muted.push(dot);
    else if (own.has(color)) own.get(color).push(dot);
    else own.set(color, [dot]);
  }
  const stroke = { "stroke-width": dotSize(panel, 1).toFixed(1), "stroke-linecap": "round", fill: "none" };
  if (muted.length) pen.add(group, "path", { ...stroke, d: muted.join(""), stroke: theme.quiet, "stroke-opacity": MUTED_OPACITY });
  for (const [color, dots] of own) pen.add(group, "path", { ...stroke, d: dots.join(""), stroke: color });
}
