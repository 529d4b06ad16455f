"""The graphs by name: what each row of a table draws, and the suites they are run in."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product

from benchmarks.graphs import (
    BenchmarkGraph,
    blobs,
    cloud,
    degree_corrected,
    digits,
    erdos_renyi,
    lfr,
    own_lfr,
    planted_partition,
    power_law_null,
    real,
    single_cells,
)
from kgroups import datasets

# Generators that need a package which is not always there: its module and its name.
_NEEDED = {
    lfr: ("networkit", "NetworKit"),
    blobs: ("sklearn", "scikit-learn"),
    cloud: ("sklearn", "scikit-learn"),
    digits: ("sklearn", "scikit-learn"),
    single_cells: ("scanpy", "scanpy"),
}


@dataclass(frozen=True)
class Row:
    """A named way to get a graph; ``draw`` takes the name and a seed."""

    name: str
    draw: Callable[..., BenchmarkGraph]

    def graph(self, seed: int) -> BenchmarkGraph:
        """Draw or load the graph."""
        return self.draw(self.name, seed=seed)

    @property
    def why_absent(self) -> str | None:
        """Why the graph cannot be had here, or None if it can."""
        module, package = _NEEDED.get(getattr(self.draw, "func", self.draw), (None, None))
        if module is not None and find_spec(module) is None:
            return f"{package} is not installed"
        if self.draw is real:
            present = {info.name for info in datasets.describe() if info.present}
            return None if self.name in present else "its files were not found (set KGROUPS_DATA)"
        return None


def size_name(n: int) -> str:
    """Write a number of nodes in thousands or millions."""
    return f"{n / 1e6:g}M" if n >= 1_000_000 else f"{n / 1e3:g}k"


def lfr_row(n: int, degree: int, mixing: float) -> Row:
    """Return an LFR graph of NetworKit."""
    name = f"lfr-{size_name(n)}-d{degree}-mu{mixing:g}"
    return Row(name, partial(lfr, n=n, degree=degree, mixing=mixing))


def own_lfr_row(n: int, degree: float, mixing: float) -> Row:
    """Return an LFR graph of kgroups, with binomial internal degrees."""
    name = f"binomial-{size_name(n)}-d{degree:g}-mu{mixing:g}"
    return Row(name, partial(own_lfr, n=n, degree=degree, mixing=mixing))


def sbm_row(n: int, k: int, degree: float, snr: float) -> Row:
    """Return a planted partition."""
    name = f"sbm-{size_name(n)}-k{k}-d{degree:g}-snr{snr:g}"
    return Row(name, partial(planted_partition, n=n, k=k, degree=degree, snr=snr))


def dcsbm_row(n: int, k: int, degree: float, snr: float) -> Row:
    """Return a degree-corrected planted partition."""
    name = f"dcsbm-{size_name(n)}-k{k}-d{degree:g}-snr{snr:g}"
    return Row(name, partial(degree_corrected, n=n, k=k, degree=degree, snr=snr))


def null_rows(n: int) -> tuple[Row, ...]:
    """Return the graphs without groups of one size: Erdos-Renyi and three power laws."""
    degrees = (3, 6, 20)
    uniform = (
        Row(f"er-{size_name(n)}-d{degree}", partial(erdos_renyi, n=n, degree=degree))
        for degree in degrees
    )
    skewed = (
        Row(
            f"config-{size_name(n)}-d{degree}-exp{exponent:g}",
            partial(power_law_null, n=n, degree=degree, exponent=exponent),
        )
        for degree, exponent in product(degrees, (2.1, 2.5, 3.0))
    )
    return (*uniform, *skewed)


# Networks that are read from npz files, in the order of their families.
_NPZ_REAL = tuple(info.name for info in datasets.describe() if info.edge_file.file.endswith(".npz"))
_SMALL_REAL = ("karate", "dolphins", "football", "polbooks", "email-Eu-core", "ca-GrQc", "cora")
_OTHER_REAL = (
    "drosophila_left",
    "drosophila_right",
    "citeseer",
    "amazon-sub",
    "dblp-sub",
    "musae-facebook",
)
README_NETWORKS = (*_SMALL_REAL, *_OTHER_REAL)
"""The networks of the table in the README."""
_SMALL_DRAWN = (
    Row("sbm-1k", partial(planted_partition, n=1_000, k=5, degree=10.0, snr=1.8)),
    Row("sbm-10k", partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.5)),
    Row("lfr-10k", partial(lfr, n=10_000, degree=20, mixing=0.6)),
)
_SIZES = (10_000, 100_000)
# Mean degree by number of groups, as the targets have it for 2, 10 and 200.
_DEGREE_FOR = {2: 5, 10: 10, 50: 20, 200: 20}

SUITES: dict[str, tuple[Row, ...]] = {
    "small": (*(Row(name, real) for name in _SMALL_REAL), *_SMALL_DRAWN),
    "lfr": tuple(
        lfr_row(n, degree, mixing)
        for n, degree, mixing in product(_SIZES, (20, 10), (0.3, 0.4, 0.5, 0.6, 0.65))
    ),
    "binomial": tuple(own_lfr_row(n, 20, mixing) for n, mixing in product(_SIZES, (0.3, 0.4, 0.5))),
    "sbm": tuple(
        sbm_row(n, k, degree, snr)
        for n, (k, degree), snr in product(_SIZES, _DEGREE_FOR.items(), (1.3, 1.5, 2.0, 3.0))
        if snr**2 < degree
    ),
    "dcsbm": (
        dcsbm_row(10_000, 10, 15, 2.0),
        dcsbm_row(100_000, 20, 20, 2.0),
        dcsbm_row(100_000, 200, 20, 2.5),
    ),
    "null": tuple(row for n in (1_000, *_SIZES) for row in null_rows(n)),
    "real": tuple(Row(name, real) for name in (*README_NETWORKS, *_NPZ_REAL)),
    "huge": (own_lfr_row(1_000_000, 18.6, 0.4), sbm_row(1_000_000, 200, 20, 2.0)),
}
SUITES["large"] = tuple(
    row for suite in ("lfr", "binomial", "sbm", "dcsbm", "null", "real") for row in SUITES[suite]
)
ROWS = {row.name: row for suite in SUITES.values() for row in suite}


def drawn(rows: Iterable[Row], seed: int, count: int) -> Iterator[BenchmarkGraph]:
    """Yield ``count`` graphs of each row, one at a time; a real network is the same each time."""
    for row in rows:
        for turn in range(count):
            yield row.graph(seed + turn)
