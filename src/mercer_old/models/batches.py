"""Kernel PCA of rows that come in batches: a basis of landmarks that grows, and shrinks again."""

from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from numbers import Integral
from types import MethodType
from typing import Any, Self, TypeVar

from sklearn.utils.validation import check_is_fitted

from mercer_old.fits.kernel.growing import (
    find_with_fewer,
    find_with_more,
    plan_for_more,
    refuse_another_kernel,
    refuse_batches,
    refuse_exact,
    task_of_first,
    task_of_more,
)
from mercer_old.fits.kernel.landmarks import find_by_landmarks
from mercer_old.fits.kernel.opening import open_task
from mercer_old.fits.kernel.place import place
from mercer_old.fits.kernel.scale import sense_of_scale
from mercer_old.fits.kernel.task import Components, Task
from mercer_old.fits.training import Training, weigh
from mercer_old.limits import Limits
from mercer_old.models.base import all_or_nothing
from mercer_old.models.way_back import WithWayBack
from mercer_old.plans.kernel import choose_plan
from mercer_old.sources.held import HeldRows
from mercer_old.sweeps.growing import Stream
from mercer_old.threads import one_blas_thread
from mercer_old.unpromised import fits

__all__ = ["WithBatches"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


class _NotInBatches(AttributeError, ValueError):
    """A model that cannot take batches does not have the method: who asks by hasattr is told so."""


def _if_it_can(method: _Method) -> _Method:
    """Asked of a model that compares all rows exactly, `partial_fit` is one sentence, and hasattr says no."""
    return _IfItCan(method)  # type: ignore[return-value]


class _IfItCan:
    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: "WithBatches | None", owner: type) -> Any:
        if model is None:
            return self.method
        try:
            refuse_exact(model)
            if "eigenvalues_" in vars(model):
                model._stream_to_go_on_from("partial_fit")
        except ValueError as error:
            raise _NotInBatches(str(error)) from None
        return MethodType(self.method, model)


class WithBatches(WithWayBack):
    """A kernel model by landmarks that goes on where it was."""

    n_samples_seen_: int
    _stream: Stream

    @_if_it_can
    @all_or_nothing
    @fits
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows, which need not be there again: kernel PCA by landmarks of all rows so far.

        It goes on from a fit by landmarks, or begins anew if there is none. Landmarks join where the batch is seen
        worse than the rows before it, at most `n_landmarks` from each batch (1000 if None); those given as `landmarks`
        stay as they are. The kernel is the one that the first batch has led to, ``gamma="median"`` included.

        With landmarks S, K_SS = LLᵀ and features φ(x) = L⁻¹k(S, x), a row under more landmarks has the coordinates
        (φ(x), b(x)) with ‖b(x)‖² ≤ k(x, x) − ‖φ(x)‖². Of rows that are gone b is not known and taken to be zero. With
        ρ = Σ(k(x, x) − ‖φ(x)‖²) over them, A the coordinates that all rows know and B̃ the others,

            JAAᵀJ + (1 − θ)·JB̃B̃ᵀJ − (1/θ − 1)·ρI  ⪯  JKJ,    0 < θ ≤ 1,

        and likewise from above: ``certificate_`` has the interval of each eigenvalue that follows
        (`mercer.certificates.intervals`). If landmarks joined after the first batch, ``eigenvalues_`` lie in these
        intervals, and need not be their lower ends as they are after `fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The batch, of one row or more.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            As of `fit`.

        Returns
        -------
        self : KernelPCA
            The model with one batch more.

        Examples
        --------
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import rings
        >>> X, ring = rings(300)
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.5)
        >>> for batch in (X[:100], X[100:200], X[200:]):
        ...     model = model.partial_fit(batch)
        >>> model.n_samples_seen_
        300
        """
        refuse_batches(self)
        limits = self._limits()
        with one_blas_thread(limits.threads):
            if "eigenvalues_" in vars(self):
                task, found = self._find_with_more(X, sample_weight, limits)
                self._keep_all(found, task, self._dtype)
            else:
                task = task_of_first(open_task(self, X, sample_weight, limits))
                plan = place(choose_plan(task.problem, task.limits), task)
                self._keep_all(find_by_landmarks(task, plan), task, task.dtype)
        return self

    def _find_with_more(self, X: Any, sample_weight: Any, limits: Limits) -> tuple[Task, Components]:
        stream = self._stream_to_go_on_from("partial_fit")
        refuse_another_kernel(self, self.kernel_)
        home, training = self._home_of_new(X, "partial_fit"), weigh(self._new_items(X), sample_weight)
        task = replace(task_of_more(self, training, self.kernel_, self.gamma_, limits), home=home)
        return task, find_with_more(task, place(plan_for_more(task, stream), task), stream)

    @all_or_nothing
    def compress(self, n_landmarks: int) -> float:
        """Keep fewer landmarks, those that together see most of the rows so far; the rows are not needed.

        One after the other joins that gains most of Σ‖φ(x)‖², the part of Σk(x, x) that is seen. What is lost goes to
        what is left in ``certificate_``, so that its intervals get wider and stay true. `partial_fit` may go on.

        Parameters
        ----------
        n_landmarks : int
            How many, at most. If there are no more than these, nothing happens.

        Returns
        -------
        lost : float
            The share of Σk(x, x) over all rows so far that was seen and is no longer.

        Examples
        --------
        >>> from mercer import KernelPCA
        >>> from mercer.datasets import rings
        >>> X, ring = rings(300)
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.5, n_landmarks=40).fit(X)
        >>> bool(model.compress(20) < 0.01)
        True
        >>> len(model.landmarks_)
        20
        """
        check_is_fitted(self)
        if not isinstance(n_landmarks, Integral) or n_landmarks < 1:
            raise ValueError(f"n_landmarks must be a whole number from 1 on; got {n_landmarks!r}.")
        refuse_batches(self)
        stream, limits = self._stream_to_go_on_from("compress"), self._limits()
        if n_landmarks >= stream.features.count:
            return 0.0
        with one_blas_thread(limits.threads):
            training = Training(HeldRows(stream.features.rows), own=True)
            task = replace(task_of_more(self, training, self.kernel_, self.gamma_, limits), home=self._home())
            found, lost = find_with_fewer(task, self.plan_, stream, int(n_landmarks))
            self._keep_all(found, task, self._dtype)
        return lost

    def _keep_all(self, found: Components, task: Task, dtype: Any) -> None:
        """As a fit does, in the precision of the first batch."""
        warnings = sense_of_scale(found, task.kernel, self, getattr(self, "feature_names_in_", None))
        self._keep(replace(found, warnings=warnings), task)
        self._dtype, self.n_samples_seen_ = dtype, self._stream.count
        if self.fit_inverse_transform:
            self._learn_inverse(task, found)

    def _stream_to_go_on_from(self, what: str) -> Stream:
        stream: Stream | None = vars(self).get("_stream")
        if stream is not None:
            return stream
        if hasattr(self, "landmarks_"):
            raise ValueError(
                f"{what} goes on from sums over the rows, which this model does not have, as it was loaded from a file "
                "that keeps what transform needs: fit anew, or begin with partial_fit on a new model."
            )
        raise ValueError(
            f"{what} goes on from a fit by landmarks, and this one compared all rows exactly: begin with partial_fit "
            "on a new model, or fit with n_landmarks."
        )
