// What is to be seen, in sentences that follow from the numbers.

function percent(share) { return `${(100 * share).toFixed(1)} %`; }

function sentences(app) {
  const { doc, fits } = app, n = doc.points.length;
  if (!n) return ["There are no points: choose “add” and click into the plane, or choose an example."];
  if (n === 1) return ["One point has nothing to vary with: add another."];
  return [aboutPca(fits.pca), aboutKernel(fits.kernel, doc), aboutSum(app), aboutLle(fits.lle, doc)].filter(Boolean);
}

function aboutPca({ shares, variances, error, axes, scale }) {
  if (!(variances[0] > 0)) return "PCA: all points are in the same place, so there is no direction to find.";
  const along = `along (${figure(axes[0][0], 2)}, ${figure(axes[0][1], 2)})${scale[0] === 1 && scale[1] === 1 ? "" : ", in standard deviations"}`;
  const start = `PCA: the first axis, ${along}, has ${percent(shares[0])} of the variance`;
  if (shares[0] < 0.55) return `${start}: the points spread nearly alike in all directions, so its direction means little, and PCA only turns the picture.`;
  return `${start}; what it leaves out is ${figure(error, 3)} a point, the mean squared distance to it.`;
}

function aboutKernel(fit, doc) {
  const { values, shares, company, params, trace } = fit, name = KERNELS[params.kernel].title;
  if (!(values[0] > 0)) return `Kernel PCA: all points look the same to the ${name} kernel.`;
  const kept = shares.reduce((sum, share) => sum + share, 0);
  const count = values.filter((value) => value > 0).length;
  const start = `Kernel PCA (${name}): η₁ = ${figure(values[0])}, ${percent(shares[0])} of the variance in feature space; ${counted(count, "component")} ${count > 1 ? "have" : "has"} ${percent(Math.min(kept, 1))}.`;
  if (params.kernel === "linear") return `${start} With the linear kernel it is PCA: the same picture.`;
  if (company !== null && company < 0.25) return `${start} γ is so large that every point is alone: nothing stands out.`;
  if (company !== null && trace / fit.n < 1e-3) return `${start} γ is so small that all points look nearly the same: what is left is PCA.`;
  return `${start} ${aboutSeparation(fit, doc)}`.trim();
}

/** Whether the sign of a component, or one threshold on it, tells a class from all the others. */
function aboutSeparation({ scores, values }, { classes }) {
  const labels = [...new Set(classes)].sort();
  if (labels.length < 2) return "";
  const told = [];
  for (const label of labels) {
    const q = values.findIndex((value, at) => value > 0 && at < 8 && isApart(scores, classes, label, at));
    if (q >= 0) told.push([CLASS_NAMES[label], q + 1]);
  }
  if (!told.length) return "No single component tells a colour from the others.";
  if (labels.length === 2) return `One threshold on component ${told[0][1]} tells the two colours apart.`;
  return `One threshold tells ${told.map(([name, q]) => `${name} from the rest (component ${q})`).join(", ")}.`;
}

function isApart(scores, classes, label, q) {
  let low = Infinity, high = -Infinity, othersLow = Infinity, othersHigh = -Infinity;
  scores.forEach((row, i) => {
    if (classes[i] === label) { low = Math.min(low, row[q]); high = Math.max(high, row[q]); }
    else { othersLow = Math.min(othersLow, row[q]); othersHigh = Math.max(othersHigh, row[q]); }
  });
  return low > othersHigh || high < othersLow;
}

function aboutSum({ doc, fits }) {
  if (doc.backdrop !== "sum" || doc.points.length < 3) return "";
  const sums = Array.from(sumsOfProjections(fits.kernel)), least = sums.indexOf(Math.min(...sums)), next = Math.min(...sums.filter((_, i) => i !== least));
  return `F(x) is lowest at point ${least + 1}: ${figure(sums[least], 3)}, against ${figure(next, 3)} at the next.`;
}

function aboutLle({ k, parts, tied, error, n, items, scores }, doc) {
  const start = `LLE (${counted(k, "neighbour")}):`;
  if (items.length === 1) return `${start} all points are in the same place.`;
  const objection = `the neighbourhoods object to the picture by ${figure(error, 3)}`;
  if (parts > 1) return `${start} the graph of neighbours falls apart into ${parts} parts, and the coordinates only tell these apart. Take more neighbours.`;
  if (items.length < n) return `${start} equal points hide all others from each other, so ${items.length} distinct ones were embedded; ${objection}.`;
  if (2 * tied > n) return `${start} most points have equally near neighbours, so the order of the points decides; ${objection}.`;
  return `${start} the graph hangs together, and ${objection}. ${aboutOrder(scores, doc)}`.trim();
}

/** Where there are several colours in a row, as along a curve: whether the first coordinate runs through them in order. */
function aboutOrder(scores, { classes }) {
  const labels = [...new Set(classes)].sort((a, b) => a - b);
  if (labels.length < 4) return "";
  const ends = labels.map((label) => {
    const own = scores.filter((_, i) => classes[i] === label).map((row) => row[0]);
    return [Math.min(...own), Math.max(...own)];
  });
  const up = ends.every(([low], i) => !i || low >= ends[i - 1][1]), down = ends.every(([, high], i) => !i || high <= ends[i - 1][0]);
  return up || down ? "Its first coordinate runs through the colours in order: the curve is unrolled." : "Its first coordinate mixes the colours up.";
}

/** The numbers of all methods, as rows of a table. */
function numbersOf({ pca, kernel, lle }) {
  let sum = 0;
  return [
    ["PCA", "variance", "share", "so far"],
    ...pca.variances.map((value, q) => [`component ${q + 1}`, figure(value, 7), percent(pca.shares[q]), percent((sum = q ? sum + pca.shares[q] : pca.shares[q]))]),
    ["error of one component", figure(pca.error, 7), "", ""],
    ["Kernel PCA", "eigenvalue η", "share", "so far"],
    ...kernel.values.map((value, q) => [`component ${q + 1}`, figure(value, 7), percent(kernel.shares[q]), percent((sum = q ? sum + kernel.shares[q] : kernel.shares[q]))]),
    ["left out, a point", figure(Math.max(kernel.trace - kernel.values.reduce((total, value) => total + value, 0), 0) / Math.max(kernel.n, 1), 7), "", ""],
    ["LLE", "eigenvalue", "", ""],
    ...lle.values.map((value, q) => [`component ${q + 1}`, figure(Math.max(value, 0), 7), "", ""]),
    ["reconstruction error", figure(lle.error, 7), "", ""],
  ];
}
