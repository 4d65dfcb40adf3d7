// Who is near: the k nearest other points of every point, the first of equally near ones, and how the graph hangs together.

/** Coordinates around their medians, divided by a power of two: LLE sees neither shift nor scale, and squares are numbers. */
function nearTheOrigin(points) {
  const n = points.length, X = new Float64Array(2 * n);
  for (const c of [0, 1]) {
    const sorted = points.map((point) => point[c]).sort((a, b) => a - b);
    const median = n ? (sorted[(n - 1) >> 1] / 2 + sorted[n >> 1] / 2) : 0;
    points.forEach((point, i) => { X[2 * i + c] = point[c] - median; });
  }
  const top = X.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  if (top > 0) { const unit = 2 ** Math.floor(Math.log2(top)); X.forEach((x, i) => { X[i] = x / unit; }); }
  return X;
}

/** indices (n×k), nearest first; `tied`: how many points have a next one that is as near as their last. */
function nearest(X, n, k) {
  const indices = new Int32Array(n * k), squares = new Float64Array(k + 1), who = new Int32Array(k + 1);
  let tied = 0;
  for (let i = 0; i < n; i++) {
    const x = X[2 * i], y = X[2 * i + 1];
    let count = 0;
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      const square = (X[2 * j] - x) ** 2 + (X[2 * j + 1] - y) ** 2;
      if (count === k + 1 && square >= squares[k]) continue;
      let at = count < k + 1 ? count++ : k;
      for (; at > 0 && squares[at - 1] > square; at--) { squares[at] = squares[at - 1]; who[at] = who[at - 1]; }
      squares[at] = square;
      who[at] = j;
    }
    indices.set(who.subarray(0, k), i * k);
    const last = squares[k - 1];
    if (count > k && last > 0 && Math.sqrt(squares[k]) <= Math.sqrt(last) * (1 + 16 * Number.EPSILON)) tied++;
  }
  return { indices, tied };
}

/** For every point the number of the first that equals it. */
function firstOfEquals(points) {
  const first = new Map();
  return points.map(([x, y], i) => {
    const key = `${x === 0 ? 0 : x} ${y === 0 ? 0 : y}`;
    if (!first.has(key)) first.set(key, i);
    return first.get(key);
  });
}

/** How many parts the graph has, and the part of every point. */
function partsOf(indices, n, k) {
  const leader = Int32Array.from({ length: n }, (_, i) => i);
  const find = (i) => { while (leader[i] !== i) i = leader[i] = leader[leader[i]]; return i; };
  for (let i = 0; i < n; i++) for (let j = 0; j < k; j++) leader[find(indices[i * k + j])] = find(i);
  const names = new Map(), labels = Array.from({ length: n }, (_, i) => {
    const root = find(i);
    if (!names.has(root)) names.set(root, names.size);
    return names.get(root);
  });
  return { count: names.size, labels };
}
