"""The playground in a real browser, and the library's numbers for the points that lie on it."""

import json
import warnings
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from support.browser import finished, opened, until

USUAL = {
    "kernel": "rbf", "gamma": 1.0, "degree": 3, "coef0": 1.0, "standardise": False, "neighbours": 12, "reg": 1e-3,
}  # fmt: skip


def playing(browser, path, fragment="", **context):
    """The page, when it is at rest."""
    return settled(finished(opened(browser, path, fragment, **context)))


def settled(page):
    until(page, "document.documentElement.dataset.settled === 'yes'")
    return page


def numbers(page):
    """What the page has on it: points, classes, params, and the fits pca, kernel and lle."""
    return SimpleNamespace(**page.evaluate(f"({_PLAIN})(playground.numbers())"))


def fitted(page, method, points, params=None, **options):
    """What one of the page's own methods makes of any points."""
    asked = [np.asarray(points).tolist(), USUAL | (params or {}), options]
    return page.evaluate(
        f"([points, params, options]) => ({_PLAIN})(playground.{method}(points, params, options))", asked
    )


# Arrays of the page's kind would arrive as objects.
_PLAIN = """function plain(value) {
  if (ArrayBuffer.isView(value)) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
  }
  return value;
}"""


def pixel_of(page, point):
    """Where a point of the plane is on the screen; the view is that of the example that is shown."""
    view = page.evaluate("playground.view()")
    box = page.evaluate("(() => { const p = document.getElementById('plane'), b = p.getBoundingClientRect();"
                        " return [b.left + p.clientLeft, b.top + p.clientTop, p.clientWidth]; })()")  # fmt: skip
    scale = box[2] / (2 * view["half"])
    return box[0] + (point[0] - view["x"] + view["half"]) * scale, box[1] + (
        view["y"] + view["half"] - point[1]
    ) * scale


def presets_of(page):
    return {preset["name"]: preset for preset in json.loads(page.locator("#presets").text_content())}


# ---------------------------------------------------------------------- the library on the same points


class Library:
    """The models that the page follows, each fitted to the same points when it is first asked for."""

    def __init__(self, points, params):
        self.X, self.asked = np.asarray(points, dtype=float), SimpleNamespace(**(USUAL | params))

    @cached_property
    def kernel(self):
        asked = self.asked
        names = {name: getattr(asked, name) for name in ("kernel", "gamma", "degree", "coef0")}
        return self._fitted(KernelPCA(min(11, len(self.X)), standardize=asked.standardise, **names))

    @cached_property
    def kernel_scores(self):
        return self.kernel.transform(self.X)

    @cached_property
    def pca(self):
        return self._fitted(PCA(standardize=self.asked.standardise))

    @cached_property
    def pca_scores(self):
        return self.pca.transform(self.X)

    @cached_property
    def error(self):
        return self._fitted(PCA(1, standardize=self.asked.standardise)).reconstruction_error_

    @cached_property
    def lle(self):
        k, d = min(self.asked.neighbours, len(self.X) - 1), min(2, len(self.X) - 1)
        how = {"reg": self.asked.reg, "standardize": self.asked.standardise}
        return self._fitted(LocallyLinearEmbedding(n_neighbors=k, n_components=d, **how))

    def _fitted(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(self.X)


# ---------------------------------------------------------------------- comparisons


def check_kernel(ours, theirs, scores, tol=1e-6):
    """Eigenvalues, shares, zeros and scores; where eigenvalues are equal to `tol`, the common span of their scores."""
    top = max(theirs.eigenvalues_[0], 1e-300)
    values, k = np.array(ours["values"], dtype=float), len(ours["values"])
    expected = theirs.eigenvalues_[:k]
    np.testing.assert_allclose(values, expected, rtol=0, atol=tol * top)
    assert (values == 0).tolist() == (expected == 0).tolist()
    np.testing.assert_allclose(ours["shares"], theirs.explained_variance_ratio_[:k], rtol=0, atol=tol)
    mine = np.array(ours["scores"], dtype=float).reshape(len(scores), k)
    for some in clusters(theirs.eigenvalues_, 1e-4 * top):
        if some[-1] >= k:
            continue  # a span that goes on beyond what the page computes
        same_span(mine[:, some], scores[:, some], tol * np.sqrt(top))


def clusters(values, gap):
    """Numbers of values that lie together, largest first."""
    groups = [[0]]
    for i in range(1, len(values)):
        groups.append([i]) if values[i - 1] - values[i] > gap else groups[-1].append(i)
    return groups


def same_span(ours, theirs, tol):
    """One column: the same, sign and all, unless its largest entries have both signs. Several: up to a rotation."""
    if ours.shape[1] == 1:
        size = np.abs(theirs).max()
        both = min(theirs.max(), -theirs.min()) > (1 - 1e-6) * size
        apart = np.abs(ours - theirs).max() if not both else min(np.abs(ours - s * theirs).max() for s in (1, -1))
        assert apart <= tol, f"{apart} > {tol}"
        return
    scale = max(np.abs(theirs).max(), 1e-300)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=0, atol=20 * tol * scale)


def check_lle(ours, theirs, tol=1e-6):
    """The error, and the coordinates as far as the library's own certificate says that they are determined."""
    assert ours["parts"] == theirs.n_parts_
    assert abs(ours["error"] - theirs.reconstruction_error_) <= tol * theirs.reconstruction_error_ + 1e-13
    mine, expected = np.array(ours["scores"], dtype=float), theirs.embedding_
    if np.all(theirs.certificate_.angles < tol / 10):
        for q in range(expected.shape[1]):
            same_span(mine[:, [q]], expected[:, [q]], tol)
    elif not np.any(expected):
        assert not np.any(mine)
    else:
        np.testing.assert_allclose(mine.T @ mine, expected.T @ expected, atol=tol)


def check_pca(ours, found, tol=1e-6):
    top = max(found.pca.explained_variance_[0], 1e-300)
    np.testing.assert_allclose(
        np.array(ours["variances"], dtype=float), found.pca.explained_variance_, rtol=0, atol=tol * top
    )
    np.testing.assert_allclose(ours["shares"], found.pca.explained_variance_ratio_, rtol=0, atol=tol)
    assert abs(ours["error"] - found.error) <= tol * top
    if found.pca.explained_variance_[0] - found.pca.explained_variance_[1] > 1e-6 * top:
        axes, expected = np.array(ours["axes"]), found.pca.components_
        equal = np.abs(np.abs(expected[:, 0]) - np.abs(expected[:, 1])) < 1e-9  # rounding decides on the sign
        signs = np.where(equal, np.sign(np.sum(axes * expected, axis=1)), 1.0)
        np.testing.assert_allclose(axes, signs[:, None] * expected, rtol=0, atol=tol)
        np.testing.assert_allclose(ours["scores"], signs * found.pca_scores, rtol=0, atol=tol * np.sqrt(top))


def check_page(page):
    """All that lies on the page, against the library."""
    shown = numbers(page)
    found = Library(shown.points, shown.params)
    check_pca(shown.pca, found)
    check_kernel(shown.kernel, found.kernel, found.kernel_scores)
    check_lle(shown.lle, found.lle)
    return shown
