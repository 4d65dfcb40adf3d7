// Locally linear embedding: bottom eigenvectors of M = (I − W)ᵀ(I − W) but the constant one, by inverse iteration.

const LLE_COMPONENTS = 2, LLE_GUARDS = 4, LLE_SHIFT = 1e-12;

/** Row i of W: weights that sum to one and make point i of its neighbours, (G + reg·tr(G)·I)w ∝ 1. */
function localWeights(X, indices, n, k, reg) {
  const W = new Float64Array(n * k), G = new Float64Array(k * k), Z = new Float64Array(2 * k);
  for (let i = 0; i < n; i++) {
    let trace = 0;
    for (let a = 0; a < k; a++) {
      const j = indices[i * k + a];
      Z[2 * a] = X[2 * j] - X[2 * i];
      Z[2 * a + 1] = X[2 * j + 1] - X[2 * i + 1];
      trace += Z[2 * a] ** 2 + Z[2 * a + 1] ** 2;
    }
    const ridge = trace > 0 ? reg * trace : 1;
    for (let a = 0; a < k; a++) {
      for (let b = 0; b <= a; b++) G[a * k + b] = Z[2 * a] * Z[2 * b] + Z[2 * a + 1] * Z[2 * b + 1] + (a === b ? ridge : 0);
    }
    solveForOnes(G, k, W, i * k);
    let sum = 0;
    for (let a = 0; a < k; a++) sum += W[i * k + a];
    for (let a = 0; a < k; a++) W[i * k + a] /= sum;
  }
  return W;
}

/** G w = 1 by Cholesky's factor, which takes the place of G. */
function solveForOnes(G, k, w, at) {
  for (let a = 0; a < k; a++) {
    for (let b = 0; b <= a; b++) {
      const rest = G[a * k + b] - dot(G, a * k, G, b * k, b);
      G[a * k + b] = a === b ? Math.sqrt(rest) : rest / G[b * k + b];
    }
    w[at + a] = (1 - dot(G, a * k, w, at, a)) / G[a * k + a];
  }
  for (let a = k - 1; a >= 0; a--) {
    w[at + a] /= G[a * k + a];
    addTimes(-w[at + a], G, a * k, w, at, a);
  }
}

/** M, and ‖M‖₁. */
function alignment(W, indices, n, k) {
  const M = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    M[i * n + i] += 1;
    for (let a = 0; a < k; a++) {
      const p = indices[i * k + a], wp = W[i * k + a];
      M[i * n + p] -= wp;
      M[p * n + i] -= wp;
      for (let b = 0; b < k; b++) M[p * n + indices[i * k + b]] += wp * W[i * k + b];
    }
  }
  let size = 0;
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += Math.abs(M[i * n + j]);
    size = Math.max(size, sum);
  }
  return { M, size };
}

/** Inverse iteration with Rayleigh–Ritz on M itself, until residuals are small against gaps, or hardly fall any more. */
function bottomPairs(M, n, size, wanted, V, count, { most, tolerance }) {
  const factor = new Skyline(M, n, LLE_SHIFT * size || 1), floor = 10 * Number.EPSILON * size;
  const MV = new Float64Array(count * n), U = new Float64Array(count * n), MU = new Float64Array(count * n);
  let found = null, before = Infinity;
  for (let step = 0; step < most; step++) {
    for (let q = 0; q < count; q++) factor.solve(V, q);
    withoutMeans(V, n, count);
    let kept = orthonormalise(V, n, 0, count);
    if (kept < count) {
      scatterNumbers(V, kept * n, count * n, 5 + step);
      withoutMeans(V, n, count - kept, kept);
      kept = orthonormalise(V, n, kept, count - kept);
    }
    symmetricTimes(M, n, V, kept, MV);
    found = smallestFirst(ritzPairs(V, MV, n, kept, kept, U, MU), n);
    V.set(found.vectors.subarray(0, kept * n));
    const worst = Math.max(...found.residuals.slice(0, wanted).map((rho, q) => rho / Math.max(gapAt(found.values, q), floor)));
    if (worst < tolerance || (step > 3 && worst > 0.7 * before && worst < 1e-3)) break;
    before = worst;
  }
  return found;
}

function smallestFirst({ values, vectors, residuals, count }, n) {
  const turned = new Float64Array(count * n);
  for (let q = 0; q < count; q++) turned.set(vectors.subarray((count - 1 - q) * n, (count - q) * n), q * n);
  return { values: values.reverse(), vectors: turned, residuals: residuals.reverse(), count };
}

/** To the nearest other value; `values` ascend. */
function gapAt(values, q) {
  const below = q > 0 ? values[q] - values[q - 1] : Infinity, above = q + 1 < values.length ? values[q + 1] - values[q] : Infinity;
  return Math.min(below, above);
}

/** What is kept from one fit to the next: vectors to start from. */
class Lle {
  constructor() { this.forget(); }

  forget() { this.n = 0; this.vectors = null; }

  fit(points, params, { exact = false } = {}) {
    const n = points.length, k = Math.min(params.neighbours, n - 1);
    if (n < 2) return nothingToEmbed(n, params);
    const scale = columnScales(points, params.standardise);
    const scaled = points.map(([x, y]) => [x / scale[0], y / scale[1]]);
    const { items, of } = distinctItems(scaled, k);
    if (items.length === 1) return nothingToEmbed(n, params, k);
    const some = items.map((i) => scaled[i]), m = some.length;
    const wanted = Math.min(LLE_COMPONENTS, m - 1), X = nearTheOrigin(some);
    const { indices, tied } = nearest(X, m, k), { M, size } = alignment(localWeights(X, indices, m, k, params.reg), indices, m, k);
    const found = this._solve(M, m, size, wanted, exact);
    return this._settled({ n, k, items, of, indices, tied, wanted, found, params });
  }

  _solve(M, m, size, wanted, exact) {
    const count = Math.min(wanted + LLE_GUARDS, m - 1), V = new Float64Array(count * m);
    scatterNumbers(V, 0, V.length, 3);
    const warm = !exact && this.vectors && this.n === m;
    if (warm) V.set(this.vectors.subarray(0, Math.min(V.length, this.vectors.length)));
    const how = exact ? { most: 40, tolerance: 1e-9 } : { most: 12, tolerance: 1e-5 };
    let found = bottomPairs(M, m, size, wanted, V, count, how);
    if (exact && !countsRight(M, m, size, found.values, wanted)) {
      found = bottomPairs(M, m, size, wanted, bottomBySlowTwin(M, m, size, count), count, how);
    }
    this.n = m;
    this.vectors = found.vectors;
    return found;
  }

  _settled({ n, k, items, of, indices, tied, wanted, found, params }) {
    const m = items.length, vectors = Float64Array.from(found.vectors.subarray(0, wanted * m));
    for (let q = 0; q < wanted; q++) {
      const sign = signOf(vectors, q * m, m);
      for (let i = 0; i < m; i++) vectors[q * m + i] *= sign;
    }
    const values = Array.from(found.values.subarray(0, wanted)), parts = partsOf(indices, m, k);
    return {
      n, k, params, items, indices, tied, values, parts: parts.count, part: of.map((i) => parts.labels[i]),
      scores: of.map((i) => values.map((_, q) => vectors[q * m + i])),
      error: values.reduce((sum, value) => sum + Math.max(value, 0), 0),
      residual: Math.max(...found.residuals.slice(0, wanted)), beyond: Array.from(found.values.subarray(wanted)),
    };
  }
}

function nothingToEmbed(n, params, k = 0) {
  const scores = Array.from({ length: n }, () => Array(Math.min(LLE_COMPONENTS, Math.max(n - 1, 0))).fill(0));
  const values = scores.length ? scores[0].map(() => 0) : [];
  return { n, k, params, items: n ? [0] : [], indices: new Int32Array(0), tied: 0, values, parts: n ? 1 : 0, part: scores.map(() => 0), scores, error: 0, residual: 0, beyond: [] };
}

/** The points that are embedded, and for every point its place among them: equal ones are one where k copies say nothing. */
function distinctItems(points, k) {
  const n = points.length, first = firstOfEquals(points), copies = new Map();
  for (const i of first) copies.set(i, (copies.get(i) || 0) + 1);
  const all = { items: points.map((_, i) => i), of: points.map((_, i) => i) };
  if (![...copies.values()].some((count) => count > k)) return all;
  const items = [...copies.keys()].sort((a, b) => a - b);
  if (items.length > 1 && items.length <= k) return all;
  const place = new Map(items.map((i, at) => [i, at]));
  return { items, of: first.map((i) => place.get(i)) };
}

/** Whether no eigenvalue was missed, as far as the values of all, whose rounding is relative to the largest, can tell. */
function countsRight(M, m, size, values, wanted) {
  const all = symmetricValues(M, m).reverse(); // the first is that of the constants: zero
  for (let q = 0; q < wanted; q++) if (values[q] - all[q + 1] > 1e-12 * size) return false;
  return true;
}

/** LAPACK's way: all eigenvectors of M with the constants sent to the other end of the spectrum. */
function bottomBySlowTwin(M, m, size, count) {
  const lifted = M.map((value) => value + (2 * size || 1) / m), { vectors } = symmetricEigen(lifted, m), V = new Float64Array(count * m);
  for (let q = 0; q < count; q++) V.set(vectors.subarray((m - 1 - q) * m, (m - q) * m), q * m);
  return V;
}
