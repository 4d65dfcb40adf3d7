"""The pictures of docs/guide/lle.md and docs/traps/lle.md, each with what it claims checked while it is drawn."""

import io
import warnings
from functools import partial

import numpy as np
from PIL import Image
from sklearn.datasets import make_swiss_roll
from sklearn.linear_model import LinearRegression
from sklearn.manifold import LocallyLinearEmbedding as ScikitLearns
from sklearn.preprocessing import StandardScaler

from mercer import LocallyLinearEmbedding, quality
from mercer.datasets import spiral
from mercer_old.errors import NoRoom
from mercer_old.look import BLUE, ORANGE, PINK, RED, as_png, faint, ink, panels, paper, ramp, without_axes

ALONG = ramp(BLUE, PINK, ORANGE)  # colour is the place along the roll
AROUND = 12  # neighbours by which all embeddings are judged


def fit(X, said="", **params):
    """A model, which warned in these words, or not at all."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LocallyLinearEmbedding(**params).fit(X)
    texts = [str(one.message) for one in told]
    assert all(said and said in text for text in texts) and bool(texts) == bool(said), (params, texts)
    return model


def roll(n=1500, noise=0.0):
    X, place = make_swiss_roll(n, noise=noise, random_state=0)
    return X, (place - place.min()) / np.ptp(place)


def in_space(ax, X, place, title="the data"):
    """Three columns as a sheet of paper can show them: the second goes back and up."""
    order = np.argsort(-X[:, 1])
    ax.scatter(X[order, 0] + 0.3 * X[order, 1], X[order, 2] + 0.15 * X[order, 1], c=place[order], cmap=ALONG, s=4)
    ax.set(title=title, aspect="equal")
    without_axes(ax)


def embedded(ax, Y, place, title, below=""):
    ax.scatter(*Y.T, c=place, cmap=ALONG, s=4)
    ax.set(title=title, xlabel=below)
    without_axes(ax)
    ax.set_box_aspect(1)


def trust(X, Y):
    return quality(X, Y, n_neighbors=AROUND).trustworthiness


def in_words(X, Y):
    found = quality(X, Y, n_neighbors=AROUND)
    return f"trustworthiness {found.trustworthiness:.3f}\ncontinuity {found.continuity:.3f}"


def trusted(X, Y):
    return f"trustworthiness {trust(X, Y):.3f}"


def rank_correlation(z, place):
    ranks = [np.argsort(np.argsort(values)) for values in (np.ravel(z), place)]
    return abs(np.corrcoef(*ranks)[0, 1])


def straight(Y, X):
    """How much of Y a linear map of X explains."""
    return LinearRegression().fit(X, Y).score(X, Y)


# ---------------------------------------------------------------------------- docs/guide/lle.md


def methods():
    X, place = roll()
    names = ["standard", "modified", "hessian", "ltsa"]
    found = [fit(X, n_neighbors=AROUND, method=name).embedding_ for name in names]
    assert min(trust(X, Y) for Y in found) > 0.99
    figure, axes = panels(1, 5, width=12, height=3.2)
    in_space(axes[0], X, place)
    for ax, name, Y in zip(axes[1:], names, found, strict=True):
        embedded(ax, Y, place, name, in_words(X, Y))
    return figure


# ---------------------------------------------------------------------------- docs/traps/lle.md


def parts():
    """Two arcs."""
    angle = np.linspace(0, np.pi, 200)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    X, place = np.concatenate([upper, [1.0, 0.4] - upper]), np.tile(angle, 2)
    together = fit(X, "falls apart into 2 parts of 200 and 200", n_neighbors=8, n_components=1)
    alone = fit(X, "Each was embedded on its own", n_neighbors=8, n_components=1, on_disconnected="separate")
    first, second = np.split(together.embedding_, 2)
    assert np.ptp(first) < 1e-4 > np.ptp(second) and abs(first.mean() - second.mean()) > 0.05
    assert min(rank_correlation(z, angle) for z in np.split(alone.embedding_, 2)) > 1 - 1e-12
    figure, axes = panels(1, 3, width=9, height=2.9)
    axes[0].scatter(*X.T, c=place, cmap=ALONG, s=8)
    axes[0].set(title="two arcs", xlabel="$x_1$", ylabel="$x_2$")
    axes[0].set_aspect("equal", adjustable="datalim")
    for ax, model, name in zip(axes[1:], (together, alone), ("warn", "separate"), strict=True):
        ax.scatter(np.arange(len(X)), model.embedding_, c=place, cmap=ALONG, s=8)
        ax.axvline(199.5, color=faint())
        ax.set(title=f'on_disconnected="{name}"', ylabel="coordinate", ylim=(-0.11, 0.11))
        ax.set_xticks([100, 300], ["first arc", "second arc"])
        ax.tick_params(axis="x", length=0)
    return figure


def groups():
    """Two dense pieces of a curve with a few rows between them."""
    at = np.concatenate([np.linspace(0, 1, 200), np.linspace(1.1, 1.5, 5), np.linspace(1.6, 2.6, 200)])
    X, between = np.column_stack([at, np.sin(2 * at)]), slice(200, 205)
    few = fit(X, "have all their 8 nearest neighbours among themselves", n_neighbors=8, n_components=1)
    more = fit(X, n_neighbors=40, n_components=1)
    assert max(np.ptp(few.embedding_[:200]), np.ptp(few.embedding_[205:])) < 1e-4
    assert rank_correlation(more.embedding_, at) > 1 - 1e-12
    figure, axes = panels(1, 3, width=9, height=2.9)
    titles = ["two groups, five rows between", "8 neighbours", "40 neighbours"]
    heights = [X[:, 1], few.embedding_[:, 0], more.embedding_[:, 0]]
    for ax, title, y in zip(axes, titles, heights, strict=True):
        ax.scatter(at, y, c=at, cmap=ALONG, s=8)
        ax.scatter(at[between], y[between], color=paper(), edgecolors=ink(), marker="D", s=22, zorder=3)
        ax.set(title=title, xlabel="$x_1$", ylabel="$x_2$" if ax is axes[0] else "coordinate")
    return figure


def copies():
    once, place = spiral(100, 1.5)
    X, places = np.repeat(once, 9, axis=0), np.repeat(place, 9)
    ours = fit(X, "rows have 8 neighbours that are all equal", n_neighbors=8, n_components=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ScikitLearns(n_neighbors=8, n_components=1, eigen_solver="dense").fit_transform(X)
    assert rank_correlation(ours.embedding_[::9], place) > 1 - 1e-12
    assert np.count_nonzero(np.abs(theirs) > 1e-6) == 9  # the copies of a single row
    figure, axes = panels(1, 3, width=9, height=2.9)
    axes[0].scatter(*once.T, c=place, cmap=ALONG, s=14)
    axes[0].set(title="100 rows, nine times each", xlabel="$x_1$", ylabel="$x_2$")
    axes[0].set_aspect("equal", adjustable="datalim")
    names = ["every row for itself (scikit-learn)", "each distinct row once"]
    for ax, z, title in zip(axes[1:], (theirs, ours.embedding_), names, strict=True):
        ax.scatter(places, z, c=places, cmap=ALONG, s=8)
        ax.set(title=title, xlabel="place along the spiral", ylabel="coordinate")
    return figure


def too_many():
    X, place = roll()
    counts = [6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 50, 60]
    found = {k: fit(X, n_neighbors=k, method="modified").embedding_ for k in counts}
    measured = [quality(X, Y, n_neighbors=AROUND) for Y in found.values()]
    shares = np.array([[one.trustworthiness, one.continuity] for one in measured])
    assert shares[counts.index(12), 0] > 0.99 and shares[counts.index(40), 0] < 0.9
    figure, axes = panels(1, 4, width=12, height=3.4, width_ratios=[1, 1, 1, 1.2])
    in_space(axes[0], X, place)
    for ax, k in zip(axes[1:], (12, 40), strict=False):
        embedded(ax, found[k], place, f"{k} neighbours", in_words(X, found[k]))
    for values, name, style, colour in zip(shares.T, ("trustworthiness", "continuity"), "-:", (BLUE, RED), strict=True):
        axes[3].plot(counts, values, style, color=colour, label=name)
    axes[3].set(title="measured", xlabel="n_neighbors", ylim=(0.78, 1.01))
    axes[3].legend(loc="lower left")
    return figure


def too_few():
    X, place = roll()
    five = fit(X, "The direction of coordinate 1, 2 is not determined", n_neighbors=5)
    six, twelve = fit(X, n_neighbors=6), fit(X, n_neighbors=12)
    assert max(trust(X, model.embedding_) for model in (five, six)) < 0.95 < trust(X, twelve.embedding_)
    figure, axes = panels(1, 4, width=11, height=3.5)
    in_space(axes[0], X, place)
    for ax, k, model in zip(axes[1:], (5, 6, 12), (five, six, twelve), strict=True):
        embedded(ax, model.embedding_, place, f"{k} neighbours", trusted(X, model.embedding_))
    return figure


def zero():
    X, place = roll()
    little = fit(X, "2 of 2 coordinates have eigenvalues below working precision", n_neighbors=12, reg=1e-9)
    usual, modified = fit(X, n_neighbors=12), fit(X, n_neighbors=12, method="modified")
    assert straight(little.embedding_, X) > 0.99 > 0.7 > straight(modified.embedding_, X)
    figure, axes = panels(1, 4, width=11, height=3.5)
    in_space(axes[0], X, place)
    titles = ["standard, reg=1e-9", "standard, reg=1e-3", "modified, reg=1e-3"]
    for ax, title, model in zip(axes[1:], titles, (little, usual, modified), strict=True):
        embedded(ax, model.embedding_, place, title, trusted(X, model.embedding_))
    return figure


def turned():
    """A bowl that looks the same from four sides."""
    corner, quarter = np.random.default_rng(0).uniform(-1, 1, size=(150, 2)), np.array([[0, 1], [-1, 0]])
    flat = np.concatenate([corner @ np.linalg.matrix_power(quarter, turn) for turn in range(4)])
    X, side = np.column_stack([flat, (flat**2).sum(axis=1)]), flat[:, 0]
    whole = fit(X, "The direction of coordinate 1, 2 is not determined", n_neighbors=12).embedding_
    rows = [np.delete(np.arange(len(X)), row) for row in (0, 100)]
    found = [fit(X[kept], n_neighbors=12).embedding_ for kept in rows]
    turn = np.delete(found[0], 99, axis=0).T @ np.delete(found[1], 0, axis=0)  # of one pair of axes into the other
    assert np.allclose(turn @ turn.T, np.eye(2), atol=0.02) and np.abs(turn).min() > 0.5
    figure, axes = panels(1, 4, width=11, height=3.5)
    axes[0].scatter(*flat.T, c=side, cmap=ALONG, s=4)
    axes[0].set(title="a bowl, from above", aspect="equal")
    without_axes(axes[0])
    embedded(axes[1], whole, side, "all 600 rows", trusted(X, whole))
    for ax, kept, Y, row in zip(axes[2:], rows, found, (0, 100), strict=True):
        embedded(ax, Y, side[kept], f"without row {row}", trusted(X[kept], Y))
    return figure


def noisy():
    names, cases = ["standard", "modified", "ltsa"], [(1500, 0.3, 12), (1500, 0.6, 12), (4000, 0.6, 30)]
    figure, axes = panels(3, 4, width=8.2, height=8)
    shares = np.empty((3, 3))
    for i, (n, noise, k) in enumerate(cases):
        X, place = roll(n, noise)
        in_space(axes[i, 0], X, place, f"noise {noise:g}")
        axes[i, 0].set_xlabel(f"{n // 1000} {n % 1000:03} rows, k = {k}")
        for j, name in enumerate(names):
            Y = fit(X, n_neighbors=k, method=name).embedding_
            shares[i, j] = trust(X, Y)
            embedded(axes[i, j + 1], Y, place, name, trusted(X, Y))
    standard, modified, ltsa = shares.T
    assert ltsa[0] < 0.95 < modified[0] and max(modified[1], ltsa[1]) < 0.9 < standard[1]
    assert min(modified[2], ltsa[2]) > 0.98 > standard[2]
    return figure


def bent(Y):
    """How much of the second coordinate a polynomial of the first explains."""
    rest = Y[:, 1] - np.polyval(np.polyfit(*Y.T, 4), Y[:, 0])
    return 1 - rest.var() / Y[:, 1].var()


def repeated():
    X, place = roll()
    X = X * [1, 5 / 21, 1]  # a ribbon
    figure, axes = panels(1, 4, width=11, height=3.5)
    in_space(axes[0], X, place, "a ribbon")
    names = ["standard", "modified", "ltsa"]
    found = [fit(X, n_neighbors=12, method=name).embedding_ for name in names]
    assert min(bent(Y) for Y in found[:2]) > 0.99 > 0.01 > bent(found[2])
    for ax, name, Y in zip(axes[1:], names, found, strict=True):
        embedded(ax, Y, place, name, f"explained by the first: {bent(Y):.1%}")
    return figure


def scales():
    X, place = roll()
    X = X * [1, 100, 1]
    raw = fit(X, "decides alone who is near", n_neighbors=12, method="modified").embedding_
    scaled = StandardScaler().fit_transform(X)
    found = fit(scaled, n_neighbors=12, method="modified").embedding_
    assert trust(scaled, found) > 0.99 and trust(scaled, raw) < 0.7
    figure, axes = panels(1, 4, width=11, height=3.5)
    axes[0].scatter(X[:, 0], X[:, 2], c=place, cmap=ALONG, s=4)
    axes[0].set(title="columns 1 and 3", xlabel="$x_1$", ylabel="$x_3$", aspect="equal")
    axes[1].scatter(X[:, 0], X[:, 1], c=place, cmap=ALONG, s=4)
    axes[1].set(title="columns 1 and 2", xlabel="$x_1$", ylabel="$x_2$", xlim=(-1100, 1100), aspect="equal")
    embedded(axes[2], raw, place, "as they are", trusted(scaled, raw))
    embedded(axes[3], found, place, "after StandardScaler", trusted(scaled, found))
    return figure


def far():
    """New rows on a straight line from the middle of a spiral to far away."""
    X, place = spiral(300, 2)
    model = fit(X, n_neighbors=12, n_components=1)
    new = np.column_stack([np.linspace(0, 36, 181), np.zeros(181)])
    placed = model.place(new)
    assert placed.far[new[:, 0] > 18].all()
    between = np.abs(new[:, 0] - 9.5) < 1  # in the middle of two turns of the spiral
    assert placed.nearest[between].min() > 1.5 > 0.1 > placed.nearest.min() and placed.far[between].any()
    assert np.ptp(placed.embedding[between]) > 0.1 and np.ptp(placed.embedding[new[:, 0] > 18]) < 0.005
    figure, axes = panels(1, 3, width=11, height=3.3)
    axes[0].scatter(*X.T, c=place, cmap=ALONG, s=6)
    for ax, y in zip(axes, [new[:, 1], placed.embedding[:, 0], placed.nearest], strict=True):
        for some, label, colour in ((~placed.far, "new rows", ink()), (placed.far, "called far", RED)):
            ax.scatter(new[some, 0], y[some], color=colour, s=5, label=label)
        ax.set_xlabel("$x_1$")
    axes[0].set(title="a spiral, and rows on a line", ylabel="$x_2$")
    axes[0].set_aspect("equal", adjustable="datalim")
    axes[0].legend(markerscale=2, loc="upper right")
    axes[1].set(title="where they are placed", ylabel="coordinate")
    axes[2].set(title="how far the nearest training row is", ylabel="nearest")
    return figure


def sample():
    X, place = roll(5000)
    try:
        LocallyLinearEmbedding(n_neighbors=12, method="modified", memory_limit="30MB", n_jobs=2).fit(X)
        raise AssertionError("It fitted.")
    except NoRoom as refused:
        assert "About 1,000 rows would fit" in str(refused)
    some = np.random.default_rng(0).choice(5000, 1000, replace=False)
    model = fit(X[some], n_neighbors=12, method="modified", memory_limit="30MB", n_jobs=2)
    Y = model.transform(X)
    assert trust(X, Y) > 0.99
    figure, axes = panels(1, 3, width=9, height=3.5)
    in_space(axes[0], X, place, "5 000 rows")
    embedded(axes[1], model.embedding_, place[some], "1 000 of them, fitted", trusted(X[some], model.embedding_))
    embedded(axes[2], Y, place, "all of them, transformed", trusted(X, Y))
    return figure


DRAWN = {
    "lle": methods,
    "lle_parts": parts,
    "lle_groups": groups,
    "lle_copies": copies,
    "lle_too_many": too_many,
    "lle_too_few": too_few,
    "lle_zero": zero,
    "lle_turned": turned,
    "lle_noisy": noisy,
    "lle_repeated": repeated,
    "lle_scales": scales,
    "lle_far": far,
    "lle_sample": sample,
}


def small(draw):
    """The picture in few colours: a quarter of the bytes, and nothing to be seen of it."""
    out = io.BytesIO()
    Image.open(io.BytesIO(as_png(draw))).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


PICTURES = {name: partial(small, draw) for name, draw in DRAWN.items()}
