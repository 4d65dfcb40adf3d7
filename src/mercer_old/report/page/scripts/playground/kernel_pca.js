// Kernel PCA: leading eigenvectors of the centred kernel matrix JKJ, scores √η·v, zeros and signs as the library has them.

const COMPONENTS = 10;

/** What is kept from one fit to the next: the kernel matrix, and vectors to start from. */
class KernelPca {
  constructor() {
    this.n = 0;
    this.key = "";
    this.K = this.A = new Float64Array(0);
    this.vectors = null;
    this.started = 0;
  }

  /** `moved`: the number of the one point that has changed since the last fit; −1 where more may have. */
  fit(points, params, { moved = -1, exact = false } = {}) {
    const n = points.length, scale = columnScales(points, params.standardise);
    const origin = params.kernel === "linear" ? scale.map((s, c) => centreOf(points, c).mean / s) : [0, 0]; // JKJ is the same
    const X = Float64Array.from(points.flatMap(([x, y]) => [x / scale[0] - origin[0], y / scale[1] - origin[1]]));
    this._gram(X, n, params, scale, moved);
    const wanted = Math.min(COMPONENTS, n);
    const found = n ? this._pairs(n, wanted, exact) : { values: new Float64Array(0), vectors: this.A, residual: 0 };
    return { ...this._settled(X, n, wanted, found, params), scale, origin };
  }

  /** Points came or went: vectors lose or gain entries, and go on. */
  resize(kept) {
    if (!this.vectors) return;
    const before = this.n, after = kept.length, vectors = new Float64Array(this.started * after);
    for (let q = 0; q < this.started; q++) {
      kept.forEach((from, to) => { if (from >= 0) vectors[q * after + to] = this.vectors[q * before + from]; });
    }
    this.vectors = vectors;
    this.n = after;
    this.key = "";
  }

  _gram(X, n, params, scale, moved) {
    const key = [n, params.kernel, params.gamma, params.degree, params.coef0, ...scale].join(" ");
    if (n * n !== this.K.length) {
      this.K = new Float64Array(n * n);
      this.A = new Float64Array(n * n);
    }
    if (n !== this.n) { this.vectors = null; this.started = 0; this.n = n; }
    const shift = KERNELS[params.kernel].local && meanOfSome(X, n, params) > 0.5 ? 1 : 0;
    const same = key === this.key && shift === this.shift;
    this.shift = shift;
    this.key = key;
    fillGram(this.K, X, n, kernelOf(params, shift), same ? moved : -1);
    this.means = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += this.K[i * n + j];
      this.means[i] = sum / n;
    }
    this.mean = this.means.reduce((sum, mean) => sum + mean, 0) / (n || 1);
    let trace = 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) this.A[i * n + j] = this.K[i * n + j] - this.means[i] - this.means[j] + this.mean;
      trace += this.A[i * n + i];
    }
    this.trace = trace;
  }

  _pairs(n, wanted, exact) {
    if (exact && n <= 40) return { ...symmetricEigen(this.A, n), residual: 0, count: n };
    const how = exact ? { tolerance: 1e-13, rounds: 12 } : {};
    const found = leadingPairs(this.A, n, wanted, { start: this.vectors, started: this.started, ...how });
    if (exact && !sameValues(found.values, symmetricValues(this.A, n), wanted)) {
      return { ...symmetricEigen(this.A, n), residual: 0, count: n }; // the slow twin has the last word
    }
    return found;
  }

  _settled(X, n, wanted, found, params) {
    const floor = this._floor(X, n, params), top = found.values[0] || 0;
    const values = Array.from(found.values.subarray(0, wanted), (value) => (value > Math.max(floor, 1e-12 * top) ? value : 0));
    this.started = Math.min(found.count ?? 0, wanted + 3);
    this.vectors = Float64Array.from(found.vectors.subarray(0, this.started * n));
    const vectors = Float64Array.from(found.vectors.subarray(0, wanted * n));
    for (let q = 0; q < wanted; q++) {
      const sign = signOf(vectors, q * n, n);
      for (let i = 0; i < n; i++) vectors[q * n + i] *= sign;
    }
    const scores = Array.from({ length: n }, (_, i) => values.map((value, q) => Math.sqrt(value) * vectors[q * n + i]));
    return {
      n, X, params, values, vectors, scores,
      means: this.means, mean: this.mean, shift: this.shift, trace: this.trace,
      shares: values.map((value) => (this.trace > 0 ? value / this.trace : 0)),
      residual: found.residual, company: this._company(n, params),
      lowest: found.values.reduce((least, value) => Math.min(least, value), 0),
    };
  }

  /** Eigenvalues up to this are likely to be rounding: what is constant to the kernel stays constant. */
  _floor(X, n, params) {
    let top = 0;
    for (let i = 0; i < n; i++) top = Math.max(top, Math.abs(this.K[i * n + i]));
    const after = params.kernel === "laplacian" ? Number.EPSILON * Math.abs(this.shift) : 0;
    const exponent = params.kernel === "rbf" ? reachRounding(X, n, params.gamma) : 0;
    return n * (4 * Number.EPSILON * (Math.abs(this.mean) + top) + exponent + after);
  }

  /** The similarities of a typical point to all others, summed up: below ¼ it is alone. */
  _company(n, params) {
    if (!KERNELS[params.kernel].local || n < 2) return null;
    const sums = Array.from(this.means, (mean) => n * (mean + this.shift) - 1).sort((a, b) => a - b);
    return n % 2 ? sums[(n - 1) / 2] : (sums[n / 2 - 1] + sums[n / 2]) / 2;
  }
}

/** The mean of the kernel among up to 64 points, by which the library decides to subtract 1 first. */
function meanOfSome(X, n, params) {
  const count = Math.min(n, 64), k = kernelOf(params);
  const some = Array.from({ length: count }, (_, i) => (count > 1 ? Math.floor(i * (n - 1) / (count - 1)) : 0));
  let sum = 0;
  for (const i of some) for (const j of some) sum += k(X[2 * i], X[2 * i + 1], X[2 * j], X[2 * j + 1]);
  return count ? sum / (count * count) : 0;
}

/** What rounding of squares does to the exponents of the Gaussian kernel, as the library allows for. */
function reachRounding(X, n, gamma) {
  let x = 0, y = 0, far = 0;
  for (let i = 0; i < n; i++) { x += X[2 * i] / n; y += X[2 * i + 1] / n; }
  for (let i = 0; i < n; i++) far = Math.max(far, gamma * ((X[2 * i] - x) ** 2 + (X[2 * i + 1] - y) ** 2));
  return far <= 1e3 ? 4 * Number.EPSILON * far / Math.sqrt(n) : 0;
}

function sameValues(found, all, wanted) {
  const near = 1e-10 * Math.max(Math.abs(all[0]), Number.MIN_VALUE);
  for (let q = 0; q < Math.min(wanted, found.length); q++) if (Math.abs(found[q] - all[q]) > near) return false;
  return true;
}
