// Vectors lie one after the other in one array: vector q of length n is V[q*n] … V[q*n + n − 1].

function dot(A, a, B, b, n) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0, i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += A[a + i] * B[b + i];
    s1 += A[a + i + 1] * B[b + i + 1];
    s2 += A[a + i + 2] * B[b + i + 2];
    s3 += A[a + i + 3] * B[b + i + 3];
  }
  for (; i < n; i++) s0 += A[a + i] * B[b + i];
  return s0 + s1 + (s2 + s3);
}

/** B += factor·A, of one vector each. */
function addTimes(factor, A, a, B, b, n) {
  for (let i = 0; i < n; i++) B[b + i] += factor * A[a + i];
}

/** Products of a symmetric n×n matrix with `count` vectors; four of them at a time, so that an entry is fetched once. */
function symmetricTimes(A, n, V, count, out, from = 0) {
  let q = from;
  for (; q + 3 < from + count; q += 4) {
    const a = q * n, b = a + n, c = b + n, d = c + n;
    for (let i = 0; i < n; i++) {
      const row = i * n;
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (let j = 0; j < n; j++) {
        const entry = A[row + j];
        s0 += entry * V[a + j];
        s1 += entry * V[b + j];
        s2 += entry * V[c + j];
        s3 += entry * V[d + j];
      }
      out[a + i] = s0;
      out[b + i] = s1;
      out[c + i] = s2;
      out[d + i] = s3;
    }
  }
  for (; q < from + count; q++) for (let i = 0; i < n; i++) out[q * n + i] = dot(A, i * n, V, q * n, n);
}

/** Takes the mean from every vector, twice: the first mean is off by as many roundings as there are terms. */
function withoutMeans(V, n, count, from = 0) {
  for (let q = from; q < from + count; q++) {
    for (let turn = 0; turn < 2; turn++) {
      let mean = 0;
      for (let i = 0; i < n; i++) mean += V[q * n + i];
      mean /= n;
      for (let i = 0; i < n; i++) V[q * n + i] -= mean;
    }
  }
}

/**
 * Makes vectors `from` … `from + count − 1` orthonormal, to those before them as well.
 * What is left of a vector that the others explain is rounding: it is dropped. Returns how many there are in all.
 */
function orthonormalise(V, n, from, count) {
  let kept = from;
  for (let q = from; q < from + count; q++) {
    if (q !== kept) V.copyWithin(kept * n, q * n, q * n + n);
    const at = kept * n;
    const before = Math.sqrt(dot(V, at, V, at, n));
    if (!(before > 1e-150)) continue;
    for (let i = 0; i < n; i++) V[at + i] /= before;
    let length = 1;
    for (let turn = 0; turn < 2; turn++) {
      for (let p = 0; p < kept; p++) addTimes(-dot(V, p * n, V, at, n), V, p * n, V, at, n);
      length = Math.sqrt(dot(V, at, V, at, n));
      if (length < 1e-9) break;
      for (let i = 0; i < n; i++) V[at + i] /= length;
    }
    if (length >= 1e-9) kept++;
  }
  return kept;
}

/** Combinations of `count` vectors: out vector q is Σₚ Y[q, p]·V[p]. */
function combine(Y, V, n, count, wanted, out) {
  out.fill(0, 0, wanted * n);
  for (let q = 0; q < wanted; q++) {
    for (let p = 0; p < count; p++) addTimes(Y[q * count + p], V, p * n, out, q * n, n);
  }
}

/** ±1: what makes the entry with the largest modulus positive, the first of equal ones. The rule of every answer. */
function signOf(V, at, n) {
  let top = 0, sign = 1;
  for (let i = 0; i < n; i++) {
    const size = Math.abs(V[at + i]);
    if (size > top) { top = size; sign = V[at + i] < 0 ? -1 : 1; }
  }
  return sign;
}

/** Numbers that look like chance and are the same every time, between −½ and ½. */
function scatterNumbers(out, from, to, seed = 1) {
  let state = seed >>> 0 || 1;
  for (let i = from; i < to; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out[i] = state / 4294967296 - 0.5;
  }
}
