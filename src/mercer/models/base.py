"""What all models share: limits, randomness, and scikit-learn's way of setting parameters."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.kernels import Kernel
from mercer.limits import Limits


class Model(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer with `memory_limit`, `n_jobs`, `random_state` and kernels as values."""

    kernel: Any

    def _limits(self) -> Limits:
        return Limits.of(self.memory_limit, self.n_jobs)

    def _rng(self) -> np.random.Generator:
        """A generator from whatever random_state is; None is a fixed seed, so that runs repeat."""
        if self.random_state is None or isinstance(self.random_state, Integral):
            return np.random.default_rng(int(self.random_state or 0))
        return np.random.default_rng(self.random_state.randint(2**31 - 1))

    def set_params(self, **params: Any) -> "Model":
        """Set parameters; ``kernel__gamma=2`` replaces a kernel object by a changed copy."""
        inner = {name[8:]: value for name, value in params.items() if name.startswith("kernel__")}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith("kernel__")})
        if inner:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(
                    f"kernel={self.kernel!r} has no parameters of its own to set; use a mercer.kernels object."
                )
            self.kernel = self.kernel.with_params(**inner)
        return self
