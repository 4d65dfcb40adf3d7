// Component functions over the plane: fᵢ(x) = Σⱼ(k(x, xⱼ) − mean)vᵢⱼ/√ηᵢ, as `transform` gives them, on a grid.

/** Places of a grid's columns and rows, in the units of the points; rows run downwards, as pictures do. */
function gridOver(view, count) {
  const step = 2 * view.half / count;
  return {
    count,
    x: Float64Array.from({ length: count }, (_, i) => view.x - view.half + (i + 0.5) * step),
    y: Float64Array.from({ length: count }, (_, i) => view.y + view.half - (i + 0.5) * step),
  };
}

/** A function that fills out[row, column] with Σⱼ αⱼk(x, xⱼ). What all components share is computed once. */
function fieldMaker(fit, grid) {
  const x = grid.x.map((value) => value / fit.scale[0] - fit.origin[0]), y = grid.y.map((value) => value / fit.scale[1] - fit.origin[1]);
  const { kernel } = fit.params;
  if (KERNELS[kernel].local) return productField(fit, x, y);
  return kernel === "poly" ? powerField(fit, x, y) : directField(fit, x, y);
}

/** exp(−γ(a + b)) is a product: one matrix of columns, one of rows, and a product of them for each component. */
function productField({ X, n, params }, x, y) {
  const distance = params.kernel === "rbf" ? (d) => d * d : Math.abs;
  const table = (places, c) => {
    const out = new Float64Array(places.length * n);
    for (let g = 0; g < places.length; g++) for (let j = 0; j < n; j++) out[g * n + j] = Math.exp(-params.gamma * distance(places[g] - X[2 * j + c]));
    return out;
  };
  const across = table(x, 0), down = table(y, 1), row = new Float64Array(n);
  return (alpha, out) => {
    for (let r = 0; r < y.length; r++) {
      for (let j = 0; j < n; j++) row[j] = alpha[j] * down[r * n + j];
      for (let c = 0; c < x.length; c++) out[r * x.length + c] = dot(row, 0, across, c * n, n);
    }
  };
}

/** (γxᵀy + c)^p is a polynomial in the two coordinates, so all points together are one, too. */
function powerField({ X, n, params }, x, y) {
  const { gamma, degree, coef0 } = params, size = degree + 1;
  return (alpha, out) => {
    const weights = new Float64Array(size * size);
    for (let a = 0; a <= degree; a++) for (let b = 0; a + b <= degree; b++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += alpha[j] * X[2 * j] ** a * X[2 * j + 1] ** b;
      weights[a * size + b] = sum * choose(degree, a) * choose(degree - a, b) * gamma ** (a + b) * coef0 ** (degree - a - b);
    }
    for (let r = 0; r < y.length; r++) for (let c = 0; c < x.length; c++) {
      let value = 0;
      for (let a = degree; a >= 0; a--) {
        let inner = 0;
        for (let b = degree - a; b >= 0; b--) inner = inner * y[r] + weights[a * size + b];
        value = value * x[c] + inner;
      }
      out[r * x.length + c] = value;
    }
  };
}

function choose(n, k) {
  let result = 1;
  for (let i = 1; i <= k; i++) result = result * (n - k + i) / i;
  return result;
}

/** Linear and cosine: the scalar product with one vector. */
function directField({ X, n, params }, x, y) {
  const unit = params.kernel === "cosine";
  return (alpha, out) => {
    let wx = 0, wy = 0;
    for (let j = 0; j < n; j++) {
      const length = unit ? Math.hypot(X[2 * j], X[2 * j + 1]) || Infinity : 1;
      wx += alpha[j] * X[2 * j] / length;
      wy += alpha[j] * X[2 * j + 1] / length;
    }
    for (let r = 0; r < y.length; r++) for (let c = 0; c < x.length; c++) {
      const length = unit ? Math.hypot(x[c], y[r]) || Infinity : 1;
      out[r * x.length + c] = (wx * x[c] + wy * y[r]) / length;
    }
  };
}

/** The coefficients of component q, and αᵀμ, by which the function is centred. Both are zero where η is. */
function dualOf(fit, q) {
  const { n, values, vectors, means, shift } = fit, alpha = new Float64Array(n);
  if (!(values[q] > 0)) return { alpha, centre: 0 };
  let sum = 0, centre = 0;
  for (let j = 0; j < n; j++) sum += alpha[j] = vectors[q * n + j] / Math.sqrt(values[q]);
  for (let j = 0; j < n; j++) { alpha[j] -= sum / n; centre += alpha[j] * (means[j] + shift); }
  return { alpha, centre };
}

/** All functions over a grid: those of kernel PCA are asked for once, as F is made of them. */
class Fields {
  constructor(fits, grid) {
    this.fits = fits;
    this.grid = grid;
    this.uncentred = [];
  }

  /** Values of { kind: "kernel" | "pca" | "sum", q }. */
  of({ kind, q }) {
    const size = this.grid.count ** 2;
    if (kind === "pca") return linearField(this.fits.pca, q, this.grid, new Float64Array(size));
    if (kind === "kernel") {
      const { values, centre } = this._component(q);
      return values.map((value) => value - centre);
    }
    const sums = new Float64Array(size); // F(x) = Σᵢ|fᵢ(x)| of functions that are not centred: low is far from the data
    this.fits.kernel.values.forEach((_, i) => {
      const { values } = this._component(i);
      for (let g = 0; g < size; g++) sums[g] += Math.abs(values[g]);
    });
    return sums;
  }

  _component(q) {
    if (!this.uncentred[q]) {
      const values = new Float64Array(this.grid.count ** 2), { alpha, centre } = dualOf(this.fits.kernel, q);
      if (this.fits.kernel.values[q] > 0) (this.maker ??= fieldMaker(this.fits.kernel, this.grid))(alpha, values);
      this.uncentred[q] = { values, centre };
    }
    return this.uncentred[q];
  }
}

function linearField({ mean, scale, axes }, q, grid, out) {
  const [a, b] = axes[q];
  for (let r = 0; r < grid.count; r++) for (let c = 0; c < grid.count; c++) {
    out[r * grid.count + c] = a * (grid.x[c] - mean[0]) / scale[0] + b * (grid.y[r] - mean[1]) / scale[1];
  }
  return out;
}

/** F of every point, where the outlier is the lowest. */
function sumsOfProjections(fit) {
  const sums = new Float64Array(fit.n);
  for (let q = 0; q < fit.values.length; q++) {
    if (!(fit.values[q] > 0)) continue;
    const { centre } = dualOf(fit, q);
    for (let i = 0; i < fit.n; i++) sums[i] += Math.abs(fit.scores[i][q] + centre);
  }
  return sums;
}

/** The component functions of any points on a grid, with the places of its cells. */
function fieldsOver(points, params, grid) {
  const kernel = new KernelPca().fit(points, params, { exact: true }), fields = new Fields({ kernel }, grid);
  return {
    grid: Array.from(grid.y).flatMap((y) => Array.from(grid.x, (x) => [x, y])),
    components: kernel.values.map((_, q) => Array.from(fields.of({ kind: "kernel", q }))),
  };
}
