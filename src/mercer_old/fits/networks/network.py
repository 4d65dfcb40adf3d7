"""A network from rows to rows through a narrow middle, and the gradient of its error.

Layers of sizes d, h, …, k, …, h, d: y_{l+1} = a(y_l W_l + b_l), where a is the activation, and nothing at the middle
(the code) and at the end. The error is

    E = ‖Ŷ − Y‖²/(2nd) + (α/2)·Σ‖W_l‖²,

and its gradient goes backwards through the layers (Rumelhart, Hinton and Williams 1986): with δ = ∂E/∂(y_l W_l + b_l),
∂E/∂W_l = y_lᵀδ + αW_l, ∂E/∂b_l = Σδ, and δ of the layer before is (δW_lᵀ)·a'. With a(x) = x and α = 0 every minimum
is global, and spans the leading axes of PCA (Baldi and Hornik 1989).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array

#: An activation in place of its argument, and its derivative as a function of its value.
ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "tanh": (np.tanh, lambda y: 1 - y * y),
    "relu": (lambda x: np.maximum(x, 0.0), lambda y: (y > 0).astype(np.float64)),
    "identity": (lambda x: x, lambda y: np.ones_like(y)),
}


@dataclass(frozen=True)
class Network:
    """The shape of a network; its weights are one long vector, so that any descent can have them."""

    sizes: tuple[int, ...]  # of all layers, from d to d
    middle: int  # which of them is the code
    activation: str

    @classmethod
    def through(cls, d: int, hidden: tuple[int, ...], k: int, activation: str) -> "Network":
        """From d to k and back, with the hidden layers mirrored."""
        return cls((d, *hidden, k, *hidden[::-1], d), len(hidden) + 1, activation)

    @property
    def n_weights(self) -> int:
        return sum((a + 1) * b for a, b in zip(self.sizes, self.sizes[1:], strict=False))

    def first_weights(self, rng: np.random.Generator) -> Array:
        """Uniform in ±√(6/(a + b)) between layers of a and b (Glorot and Bengio 2010), and no biases."""
        parts = []
        for a, b in zip(self.sizes, self.sizes[1:], strict=False):
            reach = np.sqrt(6 / (a + b))
            parts += [rng.uniform(-reach, reach, a * b), np.zeros(b)]
        return np.concatenate(parts)

    def layers(self, weights: Array) -> list[tuple[Array, Array]]:
        """W and b of every layer, as views."""
        out, at = [], 0
        for a, b in zip(self.sizes, self.sizes[1:], strict=False):
            out.append((weights[at : at + a * b].reshape(a, b), weights[at + a * b : at + (a + 1) * b]))
            at += (a + 1) * b
        return out

    def encode(self, weights: Array, Y: Array) -> Array:
        return self._through(self.layers(weights)[: self.middle], Y, 0)[-1]

    def decode(self, weights: Array, codes: Array) -> Array:
        return self._through(self.layers(weights)[self.middle :], codes, self.middle)[-1]

    def _through(self, layers: list[tuple[Array, Array]], Y: Array, first: int) -> list[Array]:
        """What every layer makes of the rows, the rows among them."""
        values = [Y]
        for number, (W, b) in enumerate(layers, start=first + 1):
            inner = values[-1] @ W + b
            values.append(inner if self._is_plain(number) else ACTIVATIONS[self.activation][0](inner))
        return values

    def _is_plain(self, layer: int) -> bool:
        return layer in (self.middle, len(self.sizes) - 1)

    def error(self, weights: Array, Y: Array) -> float:
        """‖Ŷ − Y‖²/(nd)."""
        return float(np.mean((self._through(self.layers(weights), Y, 0)[-1] - Y) ** 2))

    def loss(self, weights: Array, Y: Array, alpha: float) -> tuple[float, Array]:
        """E and its gradient."""
        layers = self.layers(weights)
        values = self._through(layers, Y, 0)
        delta = (values[-1] - Y) / Y.size
        value = 0.5 * float(np.vdot(delta, delta)) * Y.size
        gradient = np.empty_like(weights)
        slopes = self.layers(gradient)
        for number in range(len(layers), 0, -1):
            W, dW, db = layers[number - 1][0], *slopes[number - 1]
            dW[...] = values[number - 1].T @ delta + alpha * W
            db[...] = delta.sum(axis=0)
            value += 0.5 * alpha * float(np.vdot(W, W))
            if number > 1:
                delta = delta @ W.T
                if not self._is_plain(number - 1):
                    delta *= ACTIVATIONS[self.activation][1](values[number - 1])
        return value, gradient
