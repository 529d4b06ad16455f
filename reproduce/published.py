"""The numbers that the paper prints, those read off its figures, and those of a check.

G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method", IEEE TPAMI
43(12), 2021.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# --- Graphs ------------------------------------------------------------------------------------


class Printed(NamedTuple):
    """A mean and the standard deviation of single trials."""

    mean: float
    sd: float


GIRVAN_NEWMAN_TRIALS = 500
GIRVAN_NEWMAN: dict[float, dict[str, Printed]] = {
    0.6: {"bethe": Printed(0.183, 0.058), "kgroups": Printed(0.177, 0.057)},
    1.1: {"bethe": Printed(0.485, 0.123), "kgroups": Printed(0.489, 0.133)},
    1.5: {"bethe": Printed(0.840, 0.075), "kgroups": Printed(0.870, 0.074)},
    1.8: {"bethe": Printed(0.943, 0.033), "kgroups": Printed(0.960, 0.027)},
    2.0: {"bethe": Printed(0.975, 0.022), "kgroups": Printed(0.982, 0.020)},
    2.5: {"bethe": Printed(0.997, 0.006), "kgroups": Printed(0.998, 0.005)},
    3.5: {"bethe": Printed(1.000, 0.000), "kgroups": Printed(1.000, 0.000)},
}
"""Mean overlap by signal-to-noise ratio; n = 128, k = 4, mean degree 16."""

SBM_RATIOS = (0.50, 0.82, 1.03, 1.13, 1.24, 1.34, 1.45, 1.55, 1.66, 1.76, 1.97, 2.18, 2.50)
SBM_OVERLAPS: dict[int, dict[str, tuple[float, ...]]] = {
    2: {
        "bethe": (0.03, 0.08, 0.19, 0.39, 0.55, 0.69, 0.78, 0.84, 0.91, 0.92, 0.94, 0.95, 0.97),
        "kgroups": (0.03, 0.08, 0.19, 0.39, 0.56, 0.70, 0.79, 0.86, 0.92, 0.95, 0.95, 0.96, 0.97),
    },
    5: {
        "bethe": (0.06, 0.13, 0.25, 0.37, 0.52, 0.63, 0.68, 0.77, 0.84, 0.89, 0.92, 0.95, 0.98),
        "kgroups": (0.06, 0.13, 0.24, 0.39, 0.55, 0.66, 0.74, 0.84, 0.91, 0.94, 0.96, 0.97, 0.98),
    },
    15: {
        "bethe": (0.09, 0.18, 0.32, 0.41, 0.51, 0.60, 0.66, 0.73, 0.76, 0.80, 0.83, 0.89, 0.94),
        "kgroups": (0.10, 0.17, 0.32, 0.42, 0.54, 0.64, 0.72, 0.82, 0.87, 0.92, 0.93, 0.97, 0.99),
    },
}
"""Mean overlap by number of groups, at the ratios above; n = 1000, mean degree 3."""

OVERLAPS: dict[str, dict[str, float]] = {
    "karate": {"spectral": 1.00, "bethe": 1.00, "kgroups": 1.00},
    "dolphins": {"spectral": 0.64, "bethe": 0.97, "kgroups": 1.00},
    "football": {"spectral": 0.90, "bethe": 0.90, "kgroups": 0.90},
    "polbooks": {"spectral": 0.58, "bethe": 0.75, "kgroups": 0.75},
}
"""Overlap with the known groups of real networks."""


class Scored(NamedTuple):
    """Performance, coverage and modularity of communities without known groups."""

    performance: float
    coverage: float
    modularity: float


COMMUNITY_SCORES: dict[str, dict[str, Scored]] = {
    "drosophila_left": {
        "spectral": Scored(0.43, 0.65, 0.074),
        "bethe": Scored(0.48, 0.71, 0.082),
        "kgroups": Scored(0.67, 0.84, 0.041),
    },
    "drosophila_right": {
        "spectral": Scored(0.43, 0.71, 0.074),
        "bethe": Scored(0.44, 0.81, 0.071),
        "kgroups": Scored(0.66, 0.83, 0.055),
    },
    "ca-GrQc": {
        "spectral": Scored(0.63, 0.57, 0.49),
        "bethe": Scored(0.78, 0.71, 0.46),
        "kgroups": Scored(0.86, 0.81, 0.55),
    },
}

# --- Tables: the paper's tables dermatology_accuracy and several ---------------------------------

UCI_STARTS = 100
"""Starts behind each mean NMI."""


class Scores(NamedTuple):
    """Accuracy, adjusted Rand index and NMI of one partition."""

    accuracy: float
    rand: float
    nmi: float


DERMATOLOGY = {
    "k-means": Scores(0.738, 0.703, 0.860),
    "GMM": Scores(0.781, 0.737, 0.821),
    "spectral": Scores(0.956, 0.920, 0.917),
    "kernel k-means": Scores(0.872, 0.832, 0.879),
    "k-groups": Scores(0.962, 0.936, 0.932),
}
DERMATOLOGY_COMPLETE = Scores(0.964, 0.939, 0.937)
"""K-groups without the rows whose age is missing."""

DERMATOLOGY_OBJECTIVE = 449.8813
"""The largest objective that another implementation found, in 3000 starts."""


class Means(NamedTuple):
    """Mean NMI of kernel k-means as printed, of spectral clustering and of k-groups."""

    printed: float
    spectral: float
    groups: float


class UciLine(NamedTuple):
    """A line of the paper's table, and the same means by another implementation, if known.

    The other implementation gives the labels of the author's program from equal starts. Its means
    are over as many starts.
    """

    paper: Means
    other: Means | None


UCI = {
    "libras movement": UciLine(Means(0.535, 0.606, 0.590), Means(0.538, 0.602, 0.590)),
    "vehicle": UciLine(Means(0.166, 0.120, 0.126), Means(0.169, 0.120, 0.122)),
    "forest": UciLine(Means(0.457, 0.378, 0.450), Means(0.438, 0.379, 0.451)),
    "covertype": UciLine(Means(0.247, 0.230, 0.242), Means(0.250, 0.243, 0.246)),
    "segmentation": UciLine(Means(0.613, 0.597, 0.618), Means(0.613, 0.604, 0.614)),
    "wine": UciLine(Means(0.867, 0.879, 0.928), Means(0.846, 0.877, 0.928)),
    "synthetic control": UciLine(Means(0.781, 0.770, 0.790), Means(0.780, 0.769, 0.785)),
    "fertility": UciLine(Means(0.019, 0.020, 0.021), Means(0.016, 0.020, 0.019)),
    "glass": UciLine(Means(0.396, 0.377, 0.413), Means(0.393, 0.376, 0.415)),
    "ionosphere": UciLine(Means(0.192, 0.160, 0.205), Means(0.188, 0.160, 0.205)),
    "epileptic": UciLine(Means(0.222, 0.195, 0.251), Means(0.222, 0.199, 0.253)),
    "anuran": UciLine(Means(0.622, 0.593, 0.635), Means(0.652, 0.598, 0.660)),
    "gene expression": UciLine(Means(0.554, 0.575, 0.637), None),
    "pendigits": UciLine(Means(0.710, 0.715, 0.715), Means(0.725, 0.712, 0.728)),
    "seeds": UciLine(Means(0.720, 0.686, 0.748), Means(0.713, 0.686, 0.746)),
    "spect heart": UciLine(Means(0.163, 0.016, 0.180), Means(0.163, 0.022, 0.180)),
    "iris": UciLine(Means(0.748, 0.742, 0.759), Means(0.758, 0.742, 0.760)),
    "contraceptive": UciLine(Means(0.036, 0.034, 0.037), Means(0.035, 0.034, 0.035)),
}

_SUBSAMPLE = "another random subsample"
_ROWS = "rows of the balanced file"
_NOISE = "single starts vary widely"
REASONS = {
    ("anuran", "printed"): _SUBSAMPLE,
    ("anuran", "spectral"): _SUBSAMPLE,
    ("anuran", "groups"): _SUBSAMPLE,
    ("pendigits", "printed"): _SUBSAMPLE,
    ("pendigits", "spectral"): _SUBSAMPLE,
    ("pendigits", "groups"): _SUBSAMPLE,
    ("covertype", "printed"): _ROWS,
    ("covertype", "spectral"): _ROWS,
    ("covertype", "groups"): _ROWS,
    ("wine", "printed"): _NOISE,
    ("forest", "printed"): _NOISE,
    ("iris", "printed"): _NOISE,
    ("seeds", "printed"): _NOISE,
}
"""Why a mean may differ from the paper's."""

DEGENERATE = {("spect heart", "spectral"): "25 rows are 0, and so are their rows of G"}
"""Means of the paper that are not compared."""

# --- Generated points --------------------------------------------------------------------------
#
# The paper prints few of its values. Most were read off the vector graphics of the figures in the
# author's public repository. The check was a separate implementation, whose labels equal those of
# the author's programs from the same starts.
#
# The author's spectral clustering multiplies the embedding by the square roots of the degrees, here
# called "spectral √d"; scikit-learn's divides by them. The figures of growing dimension and of
# unequal classes show the former.


class Known(NamedTuple):
    """The known values of a mean accuracy.

    Attributes
    ----------
    printed, checked : float or None
        The value in the paper or its figure, and that of the check.
    runs : int
        Number of runs behind both means.
    printed_runs : int or None
        Number of runs behind the printed mean, if it differs.
    sd : float or None
        Standard deviation of single runs in the check, where it is known.
    """

    printed: float | None
    checked: float | None
    runs: int = 100
    printed_runs: int | None = None
    sd: float | None = None


Values = Mapping[tuple[Any, ...], Mapping[str, Known]]
"""Known values by the parameters of a cell and the name of a method."""


def _once(printed: float, checked: float, sd: float) -> Known:
    """Return a value of a caption, which comes from one sample."""
    return Known(printed, checked, printed_runs=1, sd=sd)


BAYES = {"line": 0.883, "gauss1": 0.866, "gauss2": 0.954, "twenty": 0.897}
"""Bayes accuracies, which no method can exceed; the paper has two digits of each."""

LINE_ACCURACIES: Values = {
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

DIMENSION_ACCURACIES: Values = {
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

POINTS_ACCURACIES: Values = {
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

CLUSTERS_ACCURACIES: Values = {
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

UNEVEN_ACCURACIES: Values = {
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
