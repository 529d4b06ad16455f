"""Mean accuracies on drawn vector data: the paper's, its figures', and those of a check.

The paper prints few of its values. Most were read off the vector graphics of the figures in the
author's public repository. The check was an implementation apart from this one, whose labels equal
those of the author's programs from the same starts.

The author's spectral clustering multiplies the embedding by the roots of the degrees, here called
``spectral √d``, where scikit-learn's divides by them. The figures of growing dimension and of
unequal classes show the former.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = [
    "BAYES",
    "CLUSTERS",
    "DIMENSION",
    "LINE",
    "POINTS",
    "UNEVEN",
    "Known",
    "Values",
]


class Known(NamedTuple):
    """What is known of a mean accuracy.

    Attributes
    ----------
    printed, checked : float or None
        In the paper or its figure, and in the check.
    runs : int
        Over how many runs both are means.
    printed_runs : int or None
        Over how many the printed one is, if another number.
    sd : float or None
        Standard deviation of single runs in the check, where it is known.
    """

    printed: float | None
    checked: float | None
    runs: int = 100
    printed_runs: int | None = None
    sd: float | None = None


Values = Mapping[tuple[Any, ...], Mapping[str, Known]]
"""From the values of a cell and the name of a method to what is known."""


def _once(printed: float, checked: float, sd: float) -> Known:
    """Return a value of a caption, which is of one sample."""
    return Known(printed, checked, printed_runs=1, sd=sd)


BAYES = {"line": 0.883, "gauss1": 0.866, "gauss2": 0.954, "twenty": 0.897}
"""Accuracies that no method can surpass; the paper has two digits of each."""

LINE: Values = {
    ("normal", 100): {
        "k-groups": Known(0.806, 0.802),
        "k-means": Known(0.776, 0.775),
        "GMM": Known(0.826, 0.820),
    },
    ("normal", 400): {
        "k-groups": Known(0.804, 0.802),
        "k-means": Known(0.775, 0.770),
        "GMM": Known(0.851, 0.850),
    },
    ("normal", 800): {
        "k-groups": Known(0.802, 0.805),
        "k-means": Known(0.773, 0.775),
        "GMM": Known(0.872, 0.868),
    },
    ("normal", 2000): {
        "k-groups": _once(0.800, 0.802, 0.010),
        "k-means": _once(0.764, 0.773, 0.010),
        "GMM": _once(0.870, 0.881, 0.008),
    },
    ("lognormal", 100): {
        "k-groups": Known(0.774, 0.765),
        "k-groups x1": Known(None, 0.680),
        "exact": Known(None, 0.782),
        "k-means": Known(None, 0.628),
        "GMM": Known(None, 0.595),
    },
    ("lognormal", 400): {
        "k-groups": Known(0.778, 0.805),
        "k-groups x1": Known(None, 0.705),
        "exact": Known(None, 0.841),
        "k-means": Known(None, 0.561),
        "GMM": Known(None, 0.538),
    },
    ("lognormal", 800): {
        "k-groups": Known(0.809, 0.784),
        "k-groups x1": Known(None, 0.720),
        "exact": Known(None, 0.845),
        "k-means": Known(None, 0.529),
        "GMM": Known(None, 0.528),
    },
    ("lognormal", 2000): {
        "k-groups": _once(0.851, 0.794, 0.122),
        "k-groups x1": Known(None, 0.684, sd=0.164),
        "exact": _once(0.851, 0.847, 0.007),
        "k-means": _once(0.516, 0.513, 0.009),
        "GMM": _once(0.533, 0.524, 0.013),
    },
}
"""By distribution and number of points; the figure's are of 110, 390 and 790 points."""

DIMENSION: Values = {
    ("gauss1", 10): {
        "k-groups": Known(0.853, 0.858),
        "k-groups x1": Known(None, 0.857),
        "kernel k-means": Known(None, 0.857),
        "as printed": Known(0.853, 0.857),
        "k-means": Known(0.855, 0.858),
        "GMM": Known(0.770, 0.786),
        "spectral": Known(None, 0.802),
        "spectral √d": Known(0.840, 0.839, runs=40, printed_runs=100),
    },
    ("gauss1", 50): {
        "k-groups": Known(0.811, 0.809),
        "k-groups x1": Known(None, 0.784),
        "kernel k-means": Known(None, 0.737),
        "as printed": Known(0.760, 0.750),
        "k-means": Known(0.797, 0.787),
        "spectral": Known(None, 0.802),
        "spectral √d": Known(0.807, None),
    },
    ("gauss1", 100): {
        "k-groups": Known(0.751, 0.741),
        "k-groups x1": Known(None, 0.704),
        "kernel k-means": Known(None, 0.612),
        "as printed": Known(0.620, 0.608),
        "k-means": Known(0.680, 0.676),
        "GMM": Known(0.601, 0.593),
        "spectral": Known(None, 0.753),
        "spectral √d": Known(0.759, None),
    },
    ("gauss1", 200): {
        "k-groups": Known(0.650, 0.637),
        "k-groups x1": Known(None, 0.612),
        "kernel k-means": Known(None, 0.563),
        "as printed": Known(0.548, 0.554),
        "k-means": Known(0.583, 0.586),
        "spectral": Known(None, 0.662),
        "spectral √d": Known(0.670, None),
    },
    ("gauss2", 10): {
        "k-groups": Known(0.889, 0.889),
        "k-groups x1": Known(None, 0.888),
        "kernel k-means": Known(None, 0.886),
        "as printed": Known(0.886, 0.887),
        "k-means": Known(0.838, 0.843),
        "GMM": Known(0.913, 0.919),
        "spectral": Known(None, 0.818),
        "spectral √d": Known(0.848, 0.857, runs=40, printed_runs=100),
    },
    ("gauss2", 35): {"GMM": Known(0.825, 0.821)},
    ("gauss2", 110): {
        "k-groups": Known(0.841, 0.840),
        "k-groups x1": Known(None, 0.839),
        "kernel k-means": Known(None, 0.790),
        "as printed": Known(0.810, 0.809),
        "k-means": Known(0.822, 0.823),
        "spectral": Known(None, 0.838),
        "spectral √d": Known(0.832, None),
    },
    ("gauss2", 210): {
        "k-groups": Known(0.835, 0.829),
        "k-groups x1": Known(None, 0.824),
        "kernel k-means": Known(None, 0.656),
        "as printed": Known(0.681, 0.660),
        "k-means": Known(0.782, 0.783),
        "spectral": Known(None, 0.826),
        "spectral √d": Known(0.830, None),
    },
    ("gauss2", 710): {
        "k-groups": Known(0.756, 0.754),
        "k-groups x1": Known(None, 0.705),
        "kernel k-means": Known(None, 0.562),
        "as printed": Known(0.559, 0.561),
        "k-means": Known(0.565, 0.578),
        "spectral": Known(None, 0.767),
        "spectral √d": Known(0.769, None),
    },
}
"""By mixture and dimension."""

POINTS: Values = {
    ("normal", 100): {
        "k-groups": Known(0.849, 0.845),
        "k-groups rho1/2": Known(0.723, 0.716),
        "k-groups rho1": Known(0.695, 0.685),
        "k-groups x1": Known(None, 0.821),
        "k-means": Known(0.639, 0.631),
        "spectral": Known(0.738, 0.722),
    },
    ("normal", 400): {
        "k-groups": Known(0.882, 0.886),
        "k-groups rho1/2": Known(0.812, 0.811),
        "k-groups rho1": Known(0.767, 0.771),
        "k-groups x1": Known(None, 0.886),
        "kernel k-means x1": Known(None, 0.631),
        "as printed x1": Known(None, 0.667),
        "k-means": Known(0.701, 0.704),
        "spectral": Known(0.842, 0.830),
    },
    ("lognormal", 100): {
        "k-groups": Known(0.802, 0.800),
        "k-groups rho1/2": Known(0.782, 0.770),
        "k-groups rho1": Known(0.710, 0.704),
        "k-groups x1": Known(None, 0.799),
        "k-means": Known(0.575, 0.573),
        "spectral": Known(0.789, 0.787),
    },
    ("lognormal", 400): {
        "k-groups": Known(0.791, 0.792),
        "k-groups rho1/2": Known(0.800, 0.807),
        "k-groups rho1": Known(0.767, 0.772),
        "k-groups x1": Known(None, 0.793),
        "k-means": Known(0.596, 0.598),
        "spectral": Known(0.786, 0.787),
    },
}
"""By distribution and number of points."""

_CAPTIONED: Mapping[int, tuple[float, ...]] = {
    4: (0.854, 0.761, 0.831, 0.720, 0.822, 0.719, 0.829, 0.568),
    16: (0.743, 0.683, 0.723, 0.659, 0.725, 0.683, 0.734, 0.452),
    25: (0.684, 0.656, 0.669, 0.620, 0.676, 0.559, 0.698, 0.437),
    36: (0.693, 0.681, 0.663, 0.647, 0.641, 0.360, 0.701, 0.435),
    49: (0.673, 0.671, 0.653, 0.631, 0.228, 0.181, 0.695, 0.417),
}
_IN_ORDER = (
    "k-groups", "k-groups x1", "kernel k-means", "kernel k-means x1", "as printed",
    "as printed x1", "k-means", "spectral",
)  # fmt: skip

_SPREADS = {(49, "kernel k-means x1"): 0.034, (49, "as printed x1"): 0.111}

CLUSTERS: Values = {
    **{
        (0.1, k): {
            name: Known(None, value, runs=20, sd=_SPREADS.get((k, name)))
            for name, value in zip(_IN_ORDER, values, strict=True)
        }
        for k, values in _CAPTIONED.items()
    },
    (0.05, 4): {"k-means": Known(0.970, None, runs=20)},
    (0.05, 49): {
        "k-groups x1": Known(0.826, 0.834, runs=10, printed_runs=20),
        "kernel k-means x1": Known(None, 0.802, runs=10, sd=0.033),
        "as printed x1": Known(0.282, 0.292, runs=10, printed_runs=20, sd=0.268),
        "k-means": Known(0.907, None, runs=20),
        "spectral": Known(0.510, 0.523, runs=10, printed_runs=20),
    },
}
"""By variance and number of clusters; the figure does not fit the variance of its caption."""

UNEVEN: Values = {
    (0,): {
        "k-groups": Known(0.886, 0.883),
        "k-groups x1": Known(None, 0.883),
        "kernel k-means": Known(None, 0.883),
        "as printed": Known(0.886, 0.883),
        "k-means": Known(0.884, 0.881),
        "spectral": Known(None, 0.734),
        "spectral √d": Known(0.861, 0.860, runs=40, printed_runs=100),
    },
    (200,): {
        "k-groups": Known(0.705, 0.697),
        "k-groups x1": Known(None, 0.681),
        "kernel k-means": Known(None, 0.694),
        "as printed": Known(0.703, 0.695),
        "k-means": Known(0.787, 0.761),
        "GMM": Known(0.903, 0.898),
        "spectral": Known(None, 0.775),
        "spectral √d": Known(0.701, None),
    },
    (240,): {
        "k-groups": Known(0.561, 0.548),
        "k-groups x1": Known(None, 0.564),
        "kernel k-means": Known(None, 0.552),
        "as printed": Known(0.558, 0.555),
        "k-means": Known(0.583, 0.571),
        "GMM": Known(0.871, 0.850),
        "spectral": Known(None, 0.626),
        "spectral √d": Known(0.578, None),
    },
}
"""By m, half the difference in size of the classes."""
