// PCA of points of the plane: the eigenvectors of a 2×2 matrix.

/** What columns are divided by: standard deviations, 1 for a constant column; 1 where nobody asked. */
function columnScales(points, standardise) {
  if (!standardise || points.length < 2) return [1, 1];
  return [0, 1].map((c) => {
    const { mean, unit } = centreOf(points, c);
    let squares = 0;
    for (const point of points) squares += ((point[c] - mean) / unit) ** 2;
    return squares > 0 ? unit * Math.sqrt(squares / (points.length - 1)) : 1;
  });
}

/** The mean of a column, and a power of two about as large as what is around it: squares of quotients are numbers. */
function centreOf(points, column) {
  let mean = 0, rest = 0, top = 0;
  for (const point of points) mean += point[column] / points.length;
  for (const point of points) rest += (point[column] - mean) / points.length;
  mean += rest;
  for (const point of points) top = Math.max(top, Math.abs(point[column] - mean));
  return { mean, unit: top > 0 ? 2 ** Math.floor(Math.log2(top)) : 1 };
}

/** mean, scale, axes (one a row, largest entry positive), variances (by n − 1), shares, scores; error of one axis. */
function pca(points, { standardise = false } = {}) {
  const n = points.length, scale = columnScales(points, standardise);
  const centres = [0, 1].map((c) => centreOf(points, c));
  const mean = centres.map((centre) => (n ? centre.mean : 0));
  const unit = Math.max(centres[0].unit / scale[0], centres[1].unit / scale[1]);
  const Z = points.map((point) => [0, 1].map((c) => (point[c] - mean[c]) / scale[c] / unit));
  let xx = 0, xy = 0, yy = 0;
  for (const [x, y] of Z) { xx += x * x; xy += x * y; yy += y * y; }
  const half = (xx - yy) / 2, radius = Math.hypot(half, xy), middle = (xx + yy) / 2;
  const first = middle + radius;
  const second = first > 0 ? Math.max(0, (xx / first) * yy - (xy / first) * xy) : 0;
  const angle = radius > 0 ? Math.atan2(xy, half) / 2 : 0;
  const axes = [[Math.cos(angle), Math.sin(angle)], [-Math.sin(angle), Math.cos(angle)]].map(([a, b]) => {
    const sign = (Math.abs(a) >= (1 - 1e-9) * Math.abs(b) ? a : b) < 0 ? -1 : 1; // rounding does not decide between equals
    return [sign * a, sign * b];
  });
  const total = first + second, perDegree = n > 1 ? unit * unit / (n - 1) : 0;
  return {
    n, mean, scale, axes,
    variances: [first * perDegree, second * perDegree],
    shares: [first, second].map((value) => (total > 0 ? value / total : 0)),
    scores: Z.map(([x, y]) => axes.map(([a, b]) => unit * (a * x + b * y))),
    error: n ? second * unit * unit / n : 0,
  };
}
