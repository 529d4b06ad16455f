"""``gauss1d``: two classes of numbers, where the best clustering is known."""

import hashlib
from functools import partial
from typing import Any

import numpy as np

from kgroups import metrics
from kgroups._types import Floats, Ints
from kgroups.energy import split_line
from kgroups.plotting.axes import INK, community_colors
from kgroups.reproduce.comparing import Comparison, curves
from kgroups.reproduce.findings import Claim, Finding, counted
from kgroups.reproduce.mixtures import line
from kgroups.reproduce.vector_paper import BAYES, LINE
from kgroups.reproduce.vectors import METHODS, gmm, kgroups, kmeans, require_sklearn
from kgroups.studies import Study, sweep
from kgroups.studies.points import Points

__all__ = ["exact", "fingerprint", "gauss1d"]

_TRIALS = 100
_SIZES = (100, 400, 800, 2000)
_DATA = ("normal", "lognormal")
_DENSITY_POINTS = 2000


def exact(points: Points, k: int, rng: np.random.Generator) -> Ints:
    """Return the best two classes of numbers."""
    return split_line(points.X[:, 0]).labels


def fingerprint(truth: Any, labels: Ints) -> float:
    """Return a number that two labellings share if they differ in names of groups only."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    names = np.argsort(np.argsort(first))[group].astype(np.int64)
    return float(int.from_bytes(hashlib.sha256(names.tobytes()).digest()[:6], "little"))


def gauss1d(trials: int | None, **running: Any) -> Finding:
    """Run the figure of one-dimensional data and the accuracies of the densities' caption."""
    trials = trials or _TRIALS
    require_sklearn()
    methods = {
        "k-groups": kgroups,
        "k-groups x1": partial(kgroups, starts=1),
        "exact": exact,
        **{name: METHODS[name] for name in ("kernel k-means", "as printed")},
        "k-means": kmeans,
        "GMM": gmm,
        "spectral": METHODS["spectral"],
    }
    study = sweep(
        line,
        [{"data": data, "n": n} for data in _DATA for n in _SIZES],
        methods,
        {"accuracy": metrics.accuracy, "partition": fingerprint},
        trials,
        **running,
    )
    compared = Comparison(study, LINE)
    lines = tuple(
        (*entries[:-1], *_shares(study, entries[0], entries[1]), entries[-1])
        for entries in compared.lines()
    )
    columns = (*compared.columns[:-1], "= exact", "= exact x1", "verdict")
    return Finding(
        "gauss1d",
        "mean accuracy on two classes of numbers",
        f"{counted(trials, 'sample')} each; N(0, 1.5) and N(1.5, 0.3) with standard deviations, or "
        "their exponentials; rho_1. 'exact' is the best of all clusterings; k-groups keeps the "
        "best of 5 starts of k-means++; '= exact' is the share of samples in which it finds the "
        "best; x1: one start. In brackets the paper's: at n = 2000 those of one sample, the others "
        "read off its figure at n = 110, 390 and 790.",
        columns,
        lines,
        (
            compared.claim(
                "k-groups and the exact algorithm agree with the known values, but for what chance "
                "explains",
                methods=lambda method: method.startswith(("k-groups", "exact")),
            ),
            compared.claim(
                "so do the other methods",
                methods=lambda method: not method.startswith(("k-groups", "exact")),
            ),
            *(_same_claim(study, data) for data in _DATA),
        ),
        study,
        {
            "gauss1d": lambda: curves(
                compared,
                ("k-groups", "k-groups x1", "exact", "k-means", "GMM", "spectral"),
                x="n",
                bayes={(data,): BAYES["line"] for data in _DATA},
            ),
            "gauss1d-density": _densities,
        },
    )


def _shares(study: Study, data: str, n: int) -> tuple[str, str]:
    """Return how often k-groups finds the best clustering: of five starts, and with one."""
    best = study.values("partition", method="exact", data=data, n=n)
    several, one = (
        np.mean(study.values("partition", method=name, data=data, n=n) == best)
        for name in ("k-groups", "k-groups x1")
    )
    return f"{several:.0%}", f"{one:.0%}"


def _same_claim(study: Study, data: str) -> Claim:
    best = study.values("partition", method="exact", data=data)
    same = int(np.sum(study.values("partition", method="k-groups", data=data) == best))
    return Claim(
        f"k-groups performs the same as the exact algorithm, {data}",
        same >= 0.95 * best.size,
        f"the best clustering in {same} of {best.size} samples",
    )


def _densities() -> Any:
    """Return the figure of the densities: estimates for k-groups, normal fits for the others."""
    from matplotlib.figure import Figure
    from scipy.stats import gaussian_kde, norm

    figure = Figure(figsize=(10.4, 4.2), layout="constrained")
    colors = community_colors(3)
    for axes, data in zip(figure.subplots(1, 2), _DATA, strict=True):
        draw, choose = np.random.default_rng(0).spawn(2)
        points, _ = line(data, _DENSITY_POINTS, draw)
        x: Floats = points.X[:, 0]
        low, high = np.quantile(x, [0.005, 0.93 if data == "lognormal" else 0.995])
        places = np.linspace(low, high, 400)
        axes.hist(x[(x >= low) & (x <= high)], 80, density=True, color=INK, alpha=0.12)
        for color, (name, find) in zip(
            colors, {"k-groups": kgroups, "k-means": kmeans, "GMM": gmm}.items(), strict=True
        ):
            z = find(points, 2, choose)
            for group, style in ((0, "-"), (1, "--")):
                mine = x[z == group]
                fit = gaussian_kde(mine) if name == "k-groups" else norm(mine.mean(), mine.std())
                axes.plot(
                    places,
                    mine.size / x.size * fit.pdf(places),
                    style,
                    color=color,
                    label=name if group == 0 else None,
                )
        axes.set_title(data, color=INK, fontsize=11, loc="left")
        axes.set_xlabel("x", color=INK)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("density", color=INK)
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure
