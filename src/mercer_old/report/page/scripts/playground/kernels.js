// Kernels with the library's formulas. γ is as in KernelPCA: exp(−γ‖x − y‖²), (γ xᵀy + coef0)^degree, exp(−γ Σ|xᵢ − yᵢ|).

const KERNELS = {
  rbf: { title: "Gaussian (RBF)", local: true, uses: ["gamma"], formula: "k(x, y) = exp(−γ‖x − y‖²)" },
  poly: { title: "polynomial", local: false, uses: ["gamma", "degree", "coef0"], formula: "k(x, y) = (γ xᵀy + c)ᵖ" },
  laplacian: { title: "Laplacian", local: true, uses: ["gamma"], formula: "k(x, y) = exp(−γ Σ|xᵢ − yᵢ|)" },
  cosine: { title: "cosine", local: false, uses: [], formula: "k(x, y) = xᵀy / ‖x‖‖y‖" },
  linear: { title: "linear", local: false, uses: [], formula: "k(x, y) = xᵀy" },
};

/** A function of two points' coordinates: k − shift. */
function kernelOf({ kernel, gamma, degree, coef0 }, shift = 0) {
  switch (kernel) {
    case "rbf": return exponential(gamma, shift, (x, y) => x * x + y * y);
    case "laplacian": return exponential(gamma, shift, (x, y) => Math.abs(x) + Math.abs(y));
    case "poly": return (a, b, c, d) => (gamma * (a * c + b * d) + coef0) ** degree;
    case "cosine": return (a, b, c, d) => {
      const lengths = Math.hypot(a, b) * Math.hypot(c, d);
      return lengths > 0 ? (a * c + b * d) / lengths : 0;
    };
    default: return (a, b, c, d) => a * c + b * d;
  }
}

/** exp(−γ·distance) − shift, without loss where that is near 0. */
function exponential(gamma, shift, distance) {
  return shift === 1
    ? (a, b, c, d) => Math.expm1(-gamma * distance(a - c, b - d))
    : (a, b, c, d) => Math.exp(-gamma * distance(a - c, b - d));
}

/** K − shift of all points, symmetric. `moved`: the number of the one point that is not where K had it. */
function fillGram(K, X, n, k, moved = -1) {
  for (let i = 0; i < n; i++) {
    if (moved >= 0 && i !== moved) {
      K[i * n + moved] = K[moved * n + i] = k(X[2 * i], X[2 * i + 1], X[2 * moved], X[2 * moved + 1]);
      continue;
    }
    for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = k(X[2 * i], X[2 * i + 1], X[2 * j], X[2 * j + 1]);
    if (moved >= 0) for (let j = i + 1; j < n; j++) K[i * n + j] = K[j * n + i];
  }
}
