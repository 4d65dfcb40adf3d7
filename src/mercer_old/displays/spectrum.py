"""Spectrum: the eigenvalues behind an answer, each in the interval that is proven for it."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.certificates.filling import FillingCertificate
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate
from mercer_old.certificates.placed import PlacedCertificate
from mercer_old.displays.asking import prefix_of, require
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import part
from mercer_old.displays.words import safe
from mercer_old.errors import BadData, counted, in_short
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel

__all__ = ["SpectrumDisplay", "beyond_and_unresolved", "proven_intervals"]


_FAR = 1e4  # times the eigenvalues that are drawn: a bound farther away would leave them no room


class SpectrumDisplay(Display):
    """Eigenvalues on a scale of logarithms, with the intervals of the certificate and what is proven of all others.

    Parameters
    ----------
    values : array-like of shape (n_components,)
        Eigenvalues, in the order of the components.
    lower, upper : array-like of shape (n_components,), default=None
        Between which they are proven to lie.
    beyond : float, default=None
        What no other eigenvalue exceeds; of locally linear embedding, below which none is.
    unresolved : sequence of int, default=()
        Components whose direction the data do not determine: drawn hollow.
    about : str, default=""
        What is proven, in words.
    prefix : str, default="PC"
        What components are called.

    Attributes
    ----------
    values, lower, upper : ndarray of shape (n_components,)
        As given.
    beyond : float or None
        As given.
    unresolved : list of int
        As given.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(
        self, values: Any, *, lower: Any = None, upper: Any = None, beyond: float | None = None, unresolved: Any = (),
        about: str = "", prefix: str = "PC",
    ) -> None:  # fmt: skip
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 1 or not len(self.values):
            raise BadData(f"values are one eigenvalue for each component; got {in_short(values)}.")
        self.lower, self.upper = (None if end is None else np.asarray(end, dtype=np.float64) for end in (lower, upper))
        self.beyond, self.unresolved, self.about, self.prefix = beyond, [int(j) for j in unresolved], about, prefix

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, **drawn: Any) -> Self:
        """Draw the eigenvalues of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA, KernelPCA or LocallyLinearEmbedding
            A fitted one.
        X : Ignored
            Present for compatibility.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : SpectrumDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA", "LocallyLinearEmbedding")
        values, lower, upper = proven_intervals(model)
        certificate = model.certificate_
        about = str(certificate).partition("\n")[0]
        if isinstance(certificate, PartsCertificate | PlacedCertificate):
            about = _whose(certificate)
        beyond, unresolved = beyond_and_unresolved(model)
        intervals: dict[str, Any] = {"lower": lower, "upper": upper, "beyond": beyond, "unresolved": unresolved}
        return cls(values, **intervals, about=about, prefix=prefix_of(model)).plot(**drawn)

    def plot(self, ax: Any = None, *, theme: str | None = None, size: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.

        Returns
        -------
        display : SpectrumDisplay
            Itself.
        """
        with self._one(ax, theme, size, (7.0, 4.2)) as (ax, look):
            from mercer_old.look import BLUE, ORANGE

            places = np.arange(1, len(self.values) + 1)
            positive = self.values[self.values > 0]
            floor = float(positive.min()) * 0.5 if len(positive) else 1e-16
            shown = np.maximum(self.values, floor)
            if self.lower is not None and self.upper is not None:
                off = [shown - np.clip(self.lower, floor, shown), np.maximum(self.upper, shown) - shown]
                ax.errorbar(places, shown, off, fmt="none", ecolor=look.ink, lw=1.3, capsize=3, zorder=2)
            hollow = np.isin(np.arange(len(shown)), self.unresolved)
            ax.scatter(places[~hollow], shown[~hollow], s=26, color=BLUE, zorder=3)
            ax.scatter(places[hollow], shown[hollow], s=26, facecolors=look.paper, edgecolors=BLUE, zorder=3)
            near = self._bounded and shown.min() / _FAR < self.beyond < _FAR * shown.max()
            if near:
                ax.axhline(self.beyond, color=ORANGE, ls="--", lw=1.3)
            ax.set(yscale="log", xlabel=f"number of the component ({self.prefix.strip()})", ylabel="eigenvalue")
            seen = [*shown, *([self.beyond] if near else [])]
            ax.set_ylim(min(seen) / 1.6, 1.6 * max(seen))
            ax.xaxis.set_major_locator(part("ticker").MaxNLocator(integer=True, nbins=12))
            self._say(ax, look, "", self._notes(near))
        return self

    @property
    def _bounded(self) -> bool:
        """Whether anything is proven of all other eigenvalues."""
        return self.beyond is not None and 0 < self.beyond < np.inf

    def _notes(self, near: bool) -> list[str]:
        notes = [safe(self.about, 300)]
        if self._bounded:
            side = "above" if self.values[-1] > self.values[0] else "below"
            notes.append(
                f"Dashed: all other eigenvalues are proven to lie {side}."
                if near
                else f"All other eigenvalues are proven to lie {side} {self.beyond:.2g}, which is far from these."
            )
        zero = int(np.sum(self.values <= 0))
        notes.append(f"{zero} of them zero to rounding, drawn at the bottom." if zero else "")
        notes.append("Hollow: directions that the data do not determine." if self.unresolved else "")
        return notes


def _of_one_embedding(certificate: Any) -> GapCertificate:
    """That of the eigenvalues that are drawn: of the landmarks, and of the largest part."""
    if isinstance(certificate, PlacedCertificate):
        certificate = certificate.landmarks
    one: GapCertificate = certificate.parts[0] if isinstance(certificate, PartsCertificate) else certificate
    return one


def _whose(certificate: PartsCertificate | PlacedCertificate) -> str:
    """Of which rows those eigenvalues are."""
    if isinstance(certificate, PartsCertificate):
        return f"The largest of {len(certificate.parts)} parts, each embedded on its own."
    landmarks = counted(certificate.n_landmarks, "landmark")
    if isinstance(certificate.landmarks, PartsCertificate):
        return f"The largest of {len(certificate.landmarks.parts)} parts of {landmarks}, each embedded on its own."
    return f"Of {landmarks}; all other rows were placed between them."


def beyond_and_unresolved(model: Any) -> tuple[float | None, Any]:
    """What no other eigenvalue exceeds, and the components whose direction is not determined."""
    certificate = model.certificate_
    if isinstance(certificate, PartsCertificate | PlacedCertificate):
        certificate = _of_one_embedding(certificate)
    return getattr(certificate, "bound_beyond", None), getattr(certificate, "unresolved", ())


def proven_intervals(model: Any) -> tuple[Array, Array | None, Array | None]:
    """Eigenvalues of a fitted model, and the ends of what is proven, in the same unit."""
    certificate = model.certificate_
    if isinstance(model, LocalModel):
        one = _of_one_embedding(certificate)
        return one.values, one.lower, one.upper
    values = to_numpy(model.singular_values_) ** 2 if isinstance(model, LinearModel) else to_numpy(model.eigenvalues_)
    values = np.asarray(values, dtype=np.float64)
    if isinstance(certificate, FillingCertificate):  # of rows with gaps no value is proven
        return values, None, None
    lower, upper = certificate.lower, certificate.upper
    return (values, lower, upper) if len(lower) == len(values) else (values, None, None)
