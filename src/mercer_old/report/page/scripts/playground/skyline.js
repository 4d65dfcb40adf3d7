// Cholesky's factor of a sparse matrix in a good order: of every row, what lies between its first entry and the diagonal.

/** Reverse Cuthill–McKee: an order in which entries of a symmetric n×n matrix stay near the diagonal. */
function narrowOrder(M, n) {
  const near = Array.from({ length: n }, (_, i) => {
    const list = [];
    for (let j = 0; j < n; j++) if (j !== i && M[i * n + j] !== 0) list.push(j);
    return list;
  });
  const byDegree = (a, b) => near[a].length - near[b].length || a - b;
  near.forEach((list) => list.sort(byDegree));
  const seen = new Uint8Array(n), order = [];
  for (const root of Array.from({ length: n }, (_, i) => i).sort(byDegree)) {
    if (seen[root]) continue;
    const first = farEnd(near, farEnd(near, root));
    seen[first] = 1;
    order.push(first);
    for (let at = order.length - 1; at < order.length; at++) {
      for (const j of near[order[at]]) if (!seen[j]) { seen[j] = 1; order.push(j); }
    }
  }
  return order.reverse();
}

/** The last node that a walk from `root` in all directions comes to. */
function farEnd(near, root) {
  const seen = new Uint8Array(near.length), line = [root];
  seen[root] = 1;
  for (let at = 0; at < line.length; at++) for (const j of near[line[at]]) if (!seen[j]) { seen[j] = 1; line.push(j); }
  return line[line.length - 1];
}

/** L with LLᵀ = M + shift·I in that order; solves for vectors. */
class Skyline {
  constructor(M, n, shift) {
    this.n = n;
    this.order = narrowOrder(M, n);
    this.first = new Int32Array(n);
    this.start = new Int32Array(n + 1); // row i lies at start[i] − first[i] + j
    for (let i = 0; i < n; i++) {
      const row = this.order[i] * n;
      let j = 0;
      while (j < i && M[row + this.order[j]] === 0) j++;
      this.first[i] = j;
      this.start[i + 1] = this.start[i] + i - j + 1;
    }
    this.L = new Float64Array(this.start[n]);
    this._factor(M, shift);
    this._b = new Float64Array(n);
  }

  _factor(M, shift) {
    const { n, order, first, start, L } = this;
    for (let i = 0; i < n; i++) {
      const row = start[i] - first[i];
      for (let j = first[i]; j <= i; j++) {
        const other = start[j] - first[j], from = Math.max(first[i], first[j]);
        const rest = M[order[i] * n + order[j]] + (i === j ? shift : 0) - dot(L, row + from, L, other + from, j - from);
        L[row + j] = i === j ? Math.sqrt(Math.max(rest, shift * Number.EPSILON)) : rest / L[other + j];
      }
    }
  }

  /** In place of vector q of B. */
  solve(B, q) {
    const { n, order, first, start, L, _b: b } = this;
    for (let i = 0; i < n; i++) {
      const row = start[i] - first[i];
      b[i] = (B[q * n + order[i]] - dot(L, row + first[i], b, first[i], i - first[i])) / L[row + i];
    }
    for (let i = n - 1; i >= 0; i--) {
      const row = start[i] - first[i];
      b[i] /= L[row + i];
      addTimes(-b[i], L, row + first[i], b, first[i], i - first[i]);
    }
    for (let i = 0; i < n; i++) B[q * n + order[i]] = b[i];
  }
}
