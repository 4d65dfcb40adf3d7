"""The axis of greatest spread is the axis of smallest distance

Every point has a foot on the axis. On a good axis the feet spread far and lie near their points, on a bad one they
crowd together and lie far away. Turned through all angles the mean square of the spread and of the distance always
add up to the same total (Pythagoras, point by point), so the best axis is the same for both.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import correlated_cloud
from mercer.textbook import centre, projection_distance, projection_spread
from mercer_old.look import BLUE, ORANGE, faint, ink, panels, paper, scatter

SLIDES = "000 p. 49–57"
FORMULA = "1/n Σⱼ (uᵀxⱼ)² + 1/n Σⱼ ‖xⱼ − u(uᵀxⱼ)‖² = 1/n Σⱼ ‖xⱼ‖²"


def compute():
    X = centre(correlated_cloud(60, seed=0))
    n, model = len(X), PCA(1).fit(X)
    degrees = np.arange(0, 180.5, 0.5)
    axes = np.column_stack([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])
    spread = np.array([projection_spread(X, u) for u in axes])
    distance = np.array([projection_distance(X, u) for u in axes])
    good, bad = model.components_[0], axes[degrees == 110][0]
    return SimpleNamespace(
        X=X,
        pair=np.array([good, bad]),
        feet=np.array([model.inverse_transform(model.transform(X)), np.outer(X @ bad, bad)]),
        known=np.array([model.explained_variance_[0] * (n - 1) / n, model.reconstruction_error_]),  # spread is 1/n
        degrees=degrees,
        spread=spread,
        distance=distance,
    )


def claims(c):
    best = np.rad2deg(np.arctan2(*c.pair[0][::-1]))
    widest, nearest = c.degrees[c.spread.argmax()], c.degrees[c.distance.argmin()]
    total = np.mean(np.sum(c.X**2, axis=1))
    measured = [np.mean(np.sum(lines**2, axis=1)) for lines in (c.feet[0], c.X - c.feet[0])]
    return {
        f"spread + distance = total variance, {total:.2f}, at every angle": np.allclose(c.spread + c.distance, total),
        f"spread is greatest where distance is smallest: at {widest:g}°": widest == nearest,
        f"the first eigenvector of C points there: {best:.1f}°": abs(best - widest) <= 0.25,
        f"PCA knows both without a projection: spread λ₁ = {c.known[0]:.2f}, distance reconstruction_error_ = "
        f"{c.known[1]:.2f}": np.allclose(c.known, measured),
    }


def draw(c):
    figure, axes = panels(1, 3, width=12, height=4.1)
    for ax, u, feet, name in zip(axes, c.pair, c.feet, ["a good axis", "a bad axis"], strict=False):
        ax.axline((0, 0), u, color=faint(), linewidth=3, zorder=0)
        ax.plot(*np.stack([c.X, feet]).transpose(2, 0, 1), color=ORANGE, linewidth=1, zorder=1)
        scatter(ax, c.X, color=paper(), edgecolors=ink(), linewidths=0.8, s=16, zorder=2)
        scatter(ax, feet, color=BLUE, marker="D", s=16, zorder=3)
        spread, distance = projection_spread(c.X, u), projection_distance(c.X, u)
        ax.set(title=f"{name}: spread {spread:.2f}, distance {distance:.2f}", xlabel="$x_1$", ylabel="$x_2$")
        ax.set(xlim=(-2.1, 2.1), ylim=(-2.1, 2.1), aspect="equal", xticks=range(-2, 3), yticks=range(-2, 3))
    ax = axes[2]
    ax.plot(c.degrees, c.spread + c.distance, color=ink(), linestyle="--", label="sum")
    ax.plot(c.degrees, c.spread, color=BLUE, label="projection spread")
    ax.plot(c.degrees, c.distance, color=ORANGE, label="projection distance")
    for u, name in zip(c.pair, ["good", "bad"], strict=True):
        at = np.rad2deg(np.arctan2(*u[::-1]))
        ax.axvline(at, color=faint(), linewidth=3, zorder=0)
        ax.text(at, 0.5, f" {name}", transform=ax.get_xaxis_transform())
    ax.set(title="all axes", xlabel="angle of the axis (degrees)", ylabel="mean square", xticks=range(0, 181, 45))
    ax.set(xlim=(0, 180), ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
