"""Graphs on which settings are tried."""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

import kgroups as kg
from benchmarks.graphs import (
    degree_corrected,
    digits,
    erdos_renyi,
    largest_component,
    lfr,
    nearest_neighbors,
    own_lfr,
    planted_partition,
    power_law_null,
    small_world,
)
from benchmarks.scores import Phi
from benchmarks.suites import ROWS, Row

DRAWN = (
    Row("LFR d=20 mu=.6", partial(lfr, n=10_000, degree=20, mixing=0.6)),
    Row("LFR d=10 mu=.5", partial(lfr, n=10_000, degree=10, mixing=0.5)),
    Row("LFR d=10 mu=.6", partial(lfr, n=10_000, degree=10, mixing=0.6)),
    Row("binomial d=15 mu=.5", partial(own_lfr, n=2_000, degree=15, mixing=0.5)),
    Row("SBM k=40 SNR 1.5", partial(planted_partition, n=10_000, k=40, degree=20.0, snr=1.5)),
    Row("SBM k=10 SNR 2", partial(planted_partition, n=10_000, k=10, degree=10.0, snr=2.0)),
    Row("DCSBM k=10 SNR 1.8", partial(degree_corrected, n=10_000, k=10, degree=15.0, snr=1.8)),
)
# Communities that look sure after one start, and are not the best.
SURE = (
    Row("small world n=1000", partial(small_world, n=1_000, degree=8, rewired=0.1)),
    Row("small world n=10,000", partial(small_world, n=10_000, degree=10, rewired=0.05)),
    Row("neighbors in 5-d", partial(nearest_neighbors, n=3_000, degree=8, dimension=5)),
    Row("neighbors in 2-d", partial(nearest_neighbors, n=10_000, degree=6, dimension=2)),
)
# Large communities without short cycles, clear and faint.
LARGE = (
    Row("SBM n=5,000 k=5 SNR 3", partial(planted_partition, n=5_000, k=5, degree=20, snr=3.0)),
    Row("SBM n=21,000 k=7 SNR 3", partial(planted_partition, n=21_000, k=7, degree=20, snr=3.0)),
    Row("SBM n=21,000 k=30 SNR 2", partial(planted_partition, n=21_000, k=30, degree=20, snr=2.0)),
    Row("SBM n=50,000 k=20 SNR 2", partial(planted_partition, n=50_000, k=20, degree=20, snr=2.0)),
)
# Many communities without short cycles, near what the spectrum can show.
MANY = (
    Row(
        "SBM n=50,000 k=20 SNR 1.4", partial(planted_partition, n=50_000, k=20, degree=20, snr=1.4)
    ),
    Row(
        "SBM n=60,000 k=80 SNR 1.4", partial(planted_partition, n=60_000, k=80, degree=20, snr=1.4)
    ),
    Row(
        "SBM n=50,000 k=100 SNR 1.5",
        partial(planted_partition, n=50_000, k=100, degree=20, snr=1.5),
    ),
)
# Some communities are found only by splits of larger ones.
MERGED = (
    Row("LFR n=3,000 d=20 mu=.6", partial(lfr, n=3_000, degree=20, mixing=0.6)),
    Row(
        "LFR n=2,000 d=15 mu=.5", partial(own_lfr, n=2_000, degree=15, mixing=0.5, internal="fixed")
    ),
)
# Locally trees, faint.
THIN = tuple(
    Row(
        f"SBM n=990 d=3 k={k} SNR 1.4",
        partial(planted_partition, n=990, k=k, degree=3.0, snr=1.4),
    )
    for k in (2, 15)
)
# Communities of unequal densities that a description barely resolves.
SMALL = (
    Row("LFR n=1000 d=10 mu=.5", partial(lfr, n=1_000, degree=10, mixing=0.5)),
    *(ROWS[name] for name in ("karate", "dolphins", "cora-Encryption-and-Compression")),
)
REAL = tuple(
    ROWS[name]
    for name in (
        "dolphins",
        "football",
        "polbooks",
        "drosophila_left",
        "email-Eu-core",
        "cora",
        "citeseer",
        "ca-GrQc",
        "dblp-sub",
        "musae-facebook",
    )
)
NULLS = (
    *(
        Row(f"ER n={n} d={degree}", partial(erdos_renyi, n=n, degree=degree))
        for n, degree in ((20, 4), (50, 10), (300, 3), (1_000, 10))
    ),
    *(
        Row(
            f"power law n={n} d={degree}",
            partial(power_law_null, n=n, degree=degree, exponent=2.5),
        )
        for n, degree in ((50, 4), (1_000, 3), (1_000, 10))
    ),
)
FAINT = (
    Row("SBM n=60 k=2 SNR 1.8", partial(planted_partition, n=60, k=2, degree=8.0, snr=1.8)),
    Row("SBM n=128 k=4 SNR 1.5", partial(planted_partition, n=128, k=4, degree=16.0, snr=1.5)),
    Row("SBM n=128 k=4 SNR 1.6", partial(planted_partition, n=128, k=4, degree=16.0, snr=1.6)),
)
# Labeled networks whose edges are correlated, more and less.
CORRELATED = (
    *(
        ROWS[name]
        for name in (
            "football",
            "email-Eu-core",
            "cora",
            "cora-Information-Retrieval",
            "eurosis",
            "newsgroup-sparse-3cl2",
            "newsgroup-dense-2cl2",
            "school-day-1",
            "fb100-Haverford76",
            "fb100-Vassar85",
        )
    ),
    Row("digits", digits),
)
BORDER = (
    Row("SBM k=2 SNR 1.3", partial(planted_partition, n=10_000, k=2, degree=5.0, snr=1.3)),
    Row("SBM k=10 SNR 1.3", partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.3)),
    Row("SBM k=10 SNR 1.6", partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.6)),
    Row("SBM k=50 SNR 1.5", partial(planted_partition, n=10_000, k=50, degree=15.0, snr=1.5)),
    Row("SBM k=100 SNR 1.5", partial(planted_partition, n=10_000, k=100, degree=15.0, snr=1.5)),
)


@dataclass(frozen=True, eq=False)
class Case:
    """The largest component of a graph; ``truth`` are its planted communities or its labels."""

    graph: kg.Graph
    truth: np.ndarray | None
    phi: Phi
    seed: int

    def detected(self, method: kg.Auto | kg.Search | kg.Spectral) -> np.ndarray:
        """Return the labels that are found."""
        return kg.detect_communities(self.graph, method=method, rng=self.seed).labels


@lru_cache(maxsize=1)
def case_of(row: Row, seed: int) -> Case:
    """Draw or load a graph; a real network is the same for each seed, but not its search."""
    drawn = largest_component(row.graph(seed))
    graph = kg.Graph.from_edges(drawn.source, drawn.target, n=drawn.n)
    return Case(graph, drawn.truth, Phi(graph), seed)
