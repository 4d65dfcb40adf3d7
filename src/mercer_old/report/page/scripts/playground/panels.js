// Panels of scores, the scree, and the tiles of component functions.

/** Scores in the plane of two components, both in the same unit. Returns where the points are. */
function drawScores(canvas, scores, pair, app, theme, nothing) {
  const { context, width, height, ratio } = fresh(canvas, theme);
  const at = scores.map((row) => [row[pair[0]] ?? 0, row[pair[1]] ?? 0]);
  const extent = [0, 1].map((c) => at.reduce(([low, high], p) => [Math.min(low, p[c]), Math.max(high, p[c])], [Infinity, -Infinity]));
  const margin = 22, ranges = extent.map(([low, high]) => high - low);
  if (!at.length || !(Math.max(...ranges) > 0)) return sayNothing(context, width, height, nothing, theme);
  const scale = Math.min((width - 2 * margin) / (ranges[0] || 1e-300), (height - 2 * margin) / (ranges[1] || 1e-300));
  const middle = extent.map(([low, high]) => (low + high) / 2);
  const place = ([x, y]) => [width / 2 + (x - middle[0]) * scale, height / 2 - (y - middle[1]) * scale];
  drawCross(context, place([0, 0]), width, height, theme);
  const places = at.map(place);
  drawMarks(context, places, app.doc.classes, radiusFor(places.length) - 1.2, ratio, theme);
  drawRings(context, places, app, theme, 8);
  context.fillStyle = theme.quiet;
  context.textAlign = "right";
  context.fillText(`component ${pair[0] + 1} →`, width - 6, height - 6);
  context.save();
  context.translate(14, 6);
  context.rotate(-Math.PI / 2);
  context.fillText(`component ${pair[1] + 1} →`, 0, 0);
  context.restore();
  return places;
}

/** Lines through the origin. */
function drawCross(context, [x, y], width, height, theme) {
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, Math.round(y) + 0.5);
  context.lineTo(width, Math.round(y) + 0.5);
  context.moveTo(Math.round(x) + 0.5, 0);
  context.lineTo(Math.round(x) + 0.5, height);
  context.stroke();
}

function sayNothing(context, width, height, text, theme) {
  context.fillStyle = theme.quiet;
  context.textAlign = "center";
  context.fillText(text, width / 2, height / 2);
  return [];
}

/** Shares of the variance: two bars of PCA, ten of kernel PCA with what they add up to. */
function drawScree(canvas, { pca, kernel }, theme) {
  const { context, width, height } = fresh(canvas, theme);
  const bars = [...pca.shares.map((share, q) => ({ share, q, colour: "#D55E00" })), null, ...kernel.shares.map((share, q) => ({ share, q, colour: "#0072B2" }))];
  const base = height - 34, top = 20, step = (width - 12) / bars.length;
  let sum = 0;
  const line = [];
  bars.forEach((bar, i) => {
    if (!bar) return;
    const x = 6 + i * step, tall = (base - top) * Math.max(bar.share, 0);
    context.fillStyle = bar.colour;
    context.fillRect(x + step * 0.14, base - tall, step * 0.72, tall);
    context.fillStyle = theme.quiet;
    context.textAlign = "center";
    context.fillText(String(bar.q + 1), x + step / 2, base + 14);
    context.fillStyle = theme.ink;
    if (bar.share >= 0.005) context.fillText(shortShare(bar.share), x + step / 2, base - tall - 4);
    if (i > 2) line.push([x + step / 2, base - (base - top) * (sum += bar.share)]);
  });
  context.strokeStyle = theme.line;
  context.beginPath();
  context.moveTo(0, base + 0.5);
  context.lineTo(width, base + 0.5);
  context.stroke();
  drawSums(context, line, theme);
  context.fillStyle = theme.quiet;
  context.textAlign = "left";
  context.fillText("PCA", 8, height - 4);
  context.fillText("kernel PCA, dashed: so far", 6 + 3 * step, height - 4);
}

function drawSums(context, line, theme) {
  if (line.length < 2) return;
  context.setLineDash([3, 3]);
  context.strokeStyle = theme.quiet;
  context.lineWidth = 1.4;
  context.beginPath();
  line.forEach((place, i) => (i ? context.lineTo(...place) : context.moveTo(...place)));
  context.stroke();
  context.setLineDash([]);
}

function shortShare(share) {
  const hundredths = 100 * share;
  return hundredths >= 10 ? hundredths.toFixed(0) : hundredths.toFixed(1);
}

/** A field on a tile, with its zero line. */
function drawTile(canvas, values, theme, sum) {
  const { context, width } = fresh(canvas, theme);
  heatPicture(drawTile.picture, values, COARSE, sum ? theme.glow : theme.heat, !sum);
  context.drawImage(drawTile.picture, 0, 0, width, width);
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.2;
  if (!sum) contour(context, values, COARSE, 0, width);
}
drawTile.picture = document.createElement("canvas");
