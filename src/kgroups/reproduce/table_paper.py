"""What the paper prints for tables, and what another implementation measured.

G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method", IEEE TPAMI
43(12), 2021: the tables *dermatology_accuracy* and *several*.
"""

from typing import NamedTuple

__all__ = [
    "DEGENERATE",
    "DERMATOLOGY",
    "DERMATOLOGY_COMPLETE",
    "DERMATOLOGY_OBJECTIVE",
    "REASONS",
    "STARTS",
    "UCI",
    "Means",
    "Scores",
    "UciLine",
]

STARTS = 100
"""Starts behind each mean."""


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
"""K-groups without the rows that have no age."""

DERMATOLOGY_OBJECTIVE = 449.8813
"""The largest objective that another implementation found, in 3000 starts."""


class Means(NamedTuple):
    """Mean NMI of kernel k-means as printed, of spectral clustering and of k-groups."""

    printed: float
    spectral: float
    groups: float


class UciLine(NamedTuple):
    """A line of the paper's table, and the same means by another implementation, if it has any.

    The other implementation is one that gives the labels of the author's program from equal
    starts. Its means are of as many starts.
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
_NOISE = "single starts scatter widely"
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
"""Why a mean of the paper may not come out."""

DEGENERATE = {("spect heart", "spectral"): "25 rows are 0, and so are their rows of G"}
"""Means of the paper that are no target."""
