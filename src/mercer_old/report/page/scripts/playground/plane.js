// The plane of the data: the field behind it, the axes of PCA, the graph of neighbours, and the points.

const FINE = 56, COARSE = 26; // cells of a field along each side, on the plane and on a tile

/** Many points are drawn smaller. */
function radiusFor(count) { return count > 150 ? 4 : 5; }

/** From the units of the points to pixels, and back. */
function lens(view, size) {
  const scale = size / (2 * view.half);
  return {
    scale,
    to: ([x, y]) => [(x - view.x + view.half) * scale, (view.y + view.half - y) * scale],
    from: (px, py) => [view.x - view.half + px / scale, view.y + view.half - py / scale],
  };
}

function drawPlane(canvas, app, theme) {
  const { context, width: size, ratio } = fresh(canvas, theme), { doc, fits } = app, look = lens(doc.view, size);
  const places = app.places = doc.points.map(look.to);
  drawField(context, size, app, theme);
  drawRuler(context, size, doc.view, look, theme);
  if (doc.shown.graph) drawGraph(context, places, fits.lle, theme);
  if (doc.shown.feet) drawFeet(context, places, fits.pca, look, theme);
  drawMarks(context, places, doc.classes, radiusFor(places.length), ratio, theme);
  if (doc.shown.axes) drawAxes(context, fits.pca, look, theme);
  drawRings(context, places, app, theme, 9);
  if (app.brush) drawBrush(context, app.brush, theme);
}

function drawField(context, size, app, theme) {
  const what = app.backdrop();
  if (!what) return;
  const values = app.fieldNow(what), sum = what.kind === "sum";
  const top = heatPicture(app.heat, values, FINE, sum ? theme.glow : theme.heat, !sum);
  context.imageSmoothingEnabled = true;
  context.drawImage(app.heat, 0, 0, size, size);
  if (!(top > 0)) return;
  context.strokeStyle = theme.ink;
  context.lineWidth = 0.7;
  context.globalAlpha = 0.28;
  for (const part of sum ? [0.1, 0.3, 0.5, 0.7, 0.9] : [-0.75, -0.5, -0.25, 0.25, 0.5, 0.75]) contour(context, values, FINE, part * top, size);
  context.globalAlpha = 0.9;
  context.lineWidth = 1.8;
  if (!sum) contour(context, values, FINE, 0, size);
  context.globalAlpha = 1;
}

/** Small figures along two sides. */
function drawRuler(context, size, view, look, theme) {
  const step = niceStep(view.half / 2);
  context.fillStyle = theme.quiet;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.textAlign = "center";
  for (const x of roundNumbers(view.x, view.half, step)) {
    const [px] = look.to([x, 0]);
    context.beginPath();
    context.moveTo(px, size);
    context.lineTo(px, size - 5);
    context.stroke();
    if (px > 24 && px < size - 14) context.fillText(figure(Number(x.toPrecision(12))), px, size - 8);
  }
  context.textAlign = "left";
  for (const y of roundNumbers(view.y, view.half, step)) {
    const py = look.to([0, y])[1];
    context.beginPath();
    context.moveTo(0, py);
    context.lineTo(5, py);
    context.stroke();
    if (py > 14 && py < size - 24) context.fillText(figure(Number(y.toPrecision(12))), 8, py + 4);
  }
}

/** Multiples of the step in view. They are counted: far from zero, a number and a step more may be the same. */
function roundNumbers(middle, half, step) {
  const first = Math.ceil((middle - half) / step), count = Math.min(Math.floor((middle + half) / step) - first, 20);
  return Array.from({ length: count >= 0 ? count + 1 : 0 }, (_, i) => (first + i) * step);
}

function niceStep(about) {
  const power = 10 ** Math.floor(Math.log10(about)), part = about / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

function drawGraph(context, places, lle, theme) {
  const { indices, items, k } = lle;
  context.strokeStyle = theme.ink;
  context.globalAlpha = 0.22;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = 0; i < items.length && indices.length; i++) for (let a = 0; a < k; a++) {
    context.moveTo(...places[items[i]]);
    context.lineTo(...places[items[indices[i * k + a]]]);
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** Lines from the points to where they fall on the first axis: their squares are the error. */
function drawFeet(context, places, { mean, scale, axes, scores }, look, theme) {
  context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.7;
  context.lineWidth = 1;
  context.beginPath();
  places.forEach((place, i) => {
    context.moveTo(...place);
    context.lineTo(...look.to([0, 1].map((c) => mean[c] + scale[c] * axes[0][c] * scores[i][0])));
  });
  context.stroke();
  context.globalAlpha = 1;
}

function drawMarks(context, places, classes, radius, ratio, theme) {
  places.forEach(([x, y], i) => {
    const stamp = stampOf(classes[i], radius, ratio, theme), side = stamp.width / ratio;
    context.drawImage(stamp, x - side / 2, y - side / 2, side, side);
  });
}

/** Two standard deviations to each side, with the share of the variance at the end. */
function drawAxes(context, { n, mean, scale, axes, variances, shares }, look, theme) {
  if (n < 2) return;
  const middle = look.to(mean);
  context.lineCap = "round";
  axes.forEach((axis, q) => {
    const reach = 2 * Math.sqrt(variances[q]), end = look.to([0, 1].map((c) => mean[c] + scale[c] * axis[c] * reach));
    const back = middle.map((m, c) => 2 * m - end[c]), length = Math.hypot(end[0] - middle[0], end[1] - middle[1]);
    for (const [colour, width] of [[theme.card, 6], [q ? theme.ink : "#D55E00", 3]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(...back);
      context.lineTo(...end);
      if (length > 12) arrowHead(context, middle, end, length);
      context.stroke();
    }
    label(context, `${(100 * shares[q]).toFixed(1)} %`, end, middle, theme);
  });
}

function arrowHead(context, from, to, length) {
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  for (const side of [-1, 1]) {
    context.moveTo(...to);
    context.lineTo(to[0] - 10 * ux - side * 6 * uy, to[1] - 10 * uy + side * 6 * ux);
  }
}

/** A text beside the end of an axis, away from its middle, on ground of its own. */
function label(context, text, end, middle, theme) {
  const length = Math.hypot(end[0] - middle[0], end[1] - middle[1]) || 1, size = context.canvas.clientWidth;
  const x = Math.min(Math.max(end[0] + 26 * (end[0] - middle[0]) / length, 28), size - 28), y = Math.min(Math.max(end[1] + 16 * (end[1] - middle[1]) / length, 14), size - 30);
  context.font = '600 13px system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = "center";
  context.lineWidth = 4;
  context.strokeStyle = theme.card;
  context.strokeText(text, x, y + 4);
  context.fillStyle = theme.ink;
  context.fillText(text, x, y + 4);
}

/** Rings around the point that is looked at and the one that is chosen. */
function drawRings(context, places, app, theme, radius) {
  for (const [i, colour, width] of [[app.hovered, theme.ink, 2], [app.chosen, theme.accent, 3]]) {
    if (i === null || !places[i]) continue;
    context.beginPath();
    context.arc(...places[i], radius, 0, 2 * Math.PI);
    context.lineWidth = width + 2.5;
    context.strokeStyle = theme.card;
    context.stroke();
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
  }
}

function drawBrush(context, { x, y, radius }, theme) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.setLineDash([4, 4]);
  context.lineWidth = 1.5;
  context.strokeStyle = theme.ink;
  context.stroke();
  context.setLineDash([]);
}
