// Leading eigenpairs of a symmetric matrix, from where they were a moment ago: a block Krylov space of the last
// vectors, and Rayleigh–Ritz in it, until every residual is small enough.

const KRYLOV_STEPS = 2;

/**
 * The `wanted` largest eigenvalues with their vectors.
 * `start` holds vectors near the answer; columns of chance beside them see what comes anew.
 */
function leadingPairs(A, n, wanted, { start = null, started = 0, tolerance = 1e-7, rounds = 5 } = {}) {
  const block = Math.min(n, wanted + 3), room = Math.min(n, block * (KRYLOV_STEPS + 1));
  const V = new Float64Array((room + block) * n), AV = new Float64Array(room * n);
  const U = new Float64Array(block * n), AU = new Float64Array(block * n);
  const given = Math.min(started, block);
  if (given) V.set(start.subarray(0, given * n));
  scatterNumbers(V, given * n, block * n, 7);
  let found = null;
  for (let round = 0; round < rounds; round++) {
    const count = growBasis(A, n, V, AV, block, room);
    found = ritzPairs(V, AV, n, count, Math.min(block, count), U, AU);
    const size = Math.abs(found.values[0] || 0);
    found.residual = size > 0 ? Math.max(0, ...found.residuals.slice(0, wanted)) / size : 0;
    if (found.residual <= tolerance || count === n) break;
    V.set(U.subarray(0, found.count * n));
    scatterNumbers(V, found.count * n, block * n, 11 + round);
  }
  return found;
}

/** [V, AV, A²V, …] made orthonormal, with the products; returns how many vectors that are. */
function growBasis(A, n, V, AV, block, room) {
  let before = 0, count = Math.min(orthonormalise(V, n, 0, block), room);
  for (;;) {
    symmetricTimes(A, n, V, count - before, AV, before);
    const next = Math.min(count - before, room - count);
    if (next <= 0) return count;
    V.set(AV.subarray(before * n, (before + next) * n), count * n);
    before = count;
    count = orthonormalise(V, n, count, next);
    if (count === before) return count;
  }
}

/** The best that combinations of the vectors can do: values, vectors U, products AU and residuals. */
function ritzPairs(V, AV, n, count, wanted, U, AU) {
  const H = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j <= i; j++) H[i * count + j] = H[j * count + i] = dot(V, i * n, AV, j * n, n);
  }
  const { values, vectors } = symmetricEigen(H, count);
  combine(vectors, V, n, count, wanted, U);
  combine(vectors, AV, n, count, wanted, AU);
  return { values: values.slice(0, wanted), vectors: U, products: AU, count: wanted, residuals: residualsOf(values, U, AU, n, wanted) };
}

function residualsOf(values, U, AU, n, count) {
  return Array.from({ length: count }, (_, q) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += (AU[q * n + i] - values[q] * U[q * n + i]) ** 2;
    return Math.sqrt(sum);
  });
}
