// All eigenpairs of a symmetric matrix: Householder's reflections to three diagonals, then QL with implicit shifts.
// It is the slow twin of what follows a dragged point, and what the twin is checked against when the hand rests.

/** A = Q·T·Qᵀ, T with diagonal d and e beside it. `Q`: whether its columns are wanted, as the rows of what returns. */
function tridiagonal(given, n, wantsVectors) {
  const A = Float64Array.from(given), d = new Float64Array(n), e = new Float64Array(n);
  const p = new Float64Array(n), betas = new Float64Array(n);
  for (let k = 0; k + 2 < n; k++) {
    const v = k * n; // row k, right of the diagonal: by symmetry the column that is to vanish
    let scale = 0;
    for (let i = k + 1; i < n; i++) scale = Math.max(scale, Math.abs(A[v + i]));
    d[k] = A[v + k];
    if (scale === 0) continue;
    let length = 0;
    for (let i = k + 1; i < n; i++) { A[v + i] /= scale; length += A[v + i] * A[v + i]; }
    length = Math.sqrt(length);
    const alpha = A[v + k + 1] > 0 ? -length : length;
    e[k] = alpha * scale;
    A[v + k + 1] -= alpha;
    const beta = betas[k] = -1 / (alpha * A[v + k + 1]);
    reflect(A, n, k, beta, p);
  }
  if (n > 1) { d[n - 2] = A[(n - 2) * n + n - 2]; e[n - 2] = A[(n - 2) * n + n - 1]; }
  if (n > 0) d[n - 1] = A[n * n - 1];
  return { d, e, Q: wantsVectors ? gatherReflections(A, betas, n) : null };
}

/** A ← HAH for H = I − βvvᵀ, v in row k of A right of the diagonal. */
function reflect(A, n, k, beta, p) {
  const v = k * n, m = n - k - 1;
  let pv = 0;
  for (let i = k + 1; i < n; i++) {
    p[i] = beta * dot(A, i * n + k + 1, A, v + k + 1, m);
    pv += p[i] * A[v + i];
  }
  const half = beta * pv / 2;
  for (let i = k + 1; i < n; i++) p[i] -= half * A[v + i];
  for (let i = k + 1; i < n; i++) {
    const vi = A[v + i], pi = p[i], row = i * n;
    for (let j = k + 1; j < n; j++) A[row + j] -= vi * p[j] + pi * A[v + j];
  }
}

function gatherReflections(A, betas, n) {
  const Q = new Float64Array(n * n), sums = new Float64Array(n);
  for (let i = 0; i < n; i++) Q[i * n + i] = 1;
  for (let k = n - 3; k >= 0; k--) {
    if (betas[k] === 0) continue;
    const v = k * n;
    sums.fill(0);
    for (let i = k + 1; i < n; i++) addTimes(A[v + i], Q, i * n + k + 1, sums, k + 1, n - k - 1);
    for (let i = k + 1; i < n; i++) addTimes(-betas[k] * A[v + i], sums, k + 1, Q, i * n + k + 1, n - k - 1);
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) [Q[i * n + j], Q[j * n + i]] = [Q[j * n + i], Q[i * n + j]];
  }
  return Q;
}

/** The eigenvalues of T in place of d; rows of Q, if there are any, are turned along. */
function implicitQL(d, e, n, Q) {
  for (let l = 0; l < n; l++) {
    for (let turn = 0; turn < 60; turn++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > Number.EPSILON * (Math.abs(d[m]) + Math.abs(d[m + 1]))) m++;
      if (m === l) break;
      let g = (d[l + 1] - d[l]) / (2 * e[l]);
      g = d[m] - d[l] + e[l] / (g + (g < 0 ? -1 : 1) * Math.hypot(g, 1));
      let s = 1, c = 1, p = 0, i = m - 1;
      for (; i >= l; i--) {
        const f = s * e[i], b = c * e[i], r = Math.hypot(f, g);
        e[i + 1] = r;
        if (r === 0) { d[i + 1] -= p; e[m] = 0; break; }
        s = f / r; c = g / r;
        g = d[i + 1] - p;
        const t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        if (Q) rotate(Q, i * n, n, s, c);
      }
      if (i >= l) continue;
      d[l] -= p; e[l] = g; e[m] = 0;
    }
  }
}

/** Turns the vector at `at` and the one after it. */
function rotate(Q, at, n, s, c) {
  for (let j = at; j < at + n; j++) {
    const f = Q[j + n];
    Q[j + n] = s * Q[j] + c * f;
    Q[j] = c * Q[j] - s * f;
  }
}

/** Largest first. */
function symmetricValues(A, n) {
  const { d, e } = tridiagonal(A, n, false);
  implicitQL(d, e, n, null);
  return d.sort().reverse();
}

/** Values largest first, and vectors one after the other. */
function symmetricEigen(A, n) {
  const { d, e, Q } = tridiagonal(A, n, true);
  implicitQL(d, e, n, Q);
  const order = Array.from(d, (_, i) => i).sort((a, b) => d[b] - d[a]);
  const values = Float64Array.from(order, (i) => d[i]), vectors = new Float64Array(n * n);
  order.forEach((from, to) => vectors.set(Q.subarray(from * n, from * n + n), to * n));
  return { values, vectors };
}
