"""Where two regimes apply they agree, and Auto returns the better description."""

from itertools import combinations

import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import nmi
from kgroups.refine import DescriptionLength

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]

ALL = (kg.Exact(), kg.FewGroups(), kg.ManyGroups())
LARGE = (kg.FewGroups(), kg.ManyGroups())


def planted(n, k, degree, snr):
    return lambda seed: planted_partition(n, k=k, degree=degree, snr=snr, rng=seed)


def lfr(n, mixing, max_community=None):
    return lambda seed: lfr_benchmark(
        n, degree=15, mixing=mixing, max_community=max_community, rng=seed
    )


def length(graph, partition):
    A = graph.simple_adjacency()
    return DescriptionLength(A).of(A, partition.labels, len(partition))


# The least mean NMI of two regimes over the seeds 0 to 9 (0 to 2 on the large graphs), and the
# standard deviation of one graph.
CLEAR = [
    pytest.param(planted(900, 4, 12.0, 2.5), ALL, id="n=900, .991 (.006)"),
    pytest.param(planted(1_100, 4, 12.0, 2.5), ALL, id="n=1100, .995 (.004)"),
    pytest.param(planted(1_000, 10, 12.0, 2.5), ALL, id="n=1000, k=10, .996 (.004)"),
    pytest.param(lfr(900, 0.4, 110), ALL, id="LFR n=900, .999 (.003)"),
    pytest.param(lfr(1_100, 0.4, 140), ALL, id="LFR n=1100, .999 (.003)"),
    pytest.param(planted(13_000, 60, 16.0, 2.5), LARGE, id="k=60, .999 (.0002)"),
    pytest.param(planted(14_000, 68, 16.0, 2.5), LARGE, id="k=68, .999 (.0002)"),
]


@pytest.mark.parametrize(("draw", "regimes"), CLEAR)
def test_regimes_agree_where_communities_are_clear(draw, regimes):
    """Bound: three standard errors or more below the means above."""
    seeds = range(100, 103) if len(regimes) == 3 else range(100, 101)
    agreement, excess = [], []
    for seed in seeds:
        graph, _ = draw(seed)
        forced = [kg.detect_communities(graph, regime=regime) for regime in regimes]
        found = kg.detect_communities(graph)
        pairs = combinations([*forced, found], 2)
        agreement.append([nmi(first.labels, second.labels) for first, second in pairs])
        excess.append(length(graph, found) - min(length(graph, other) for other in forced))
    assert np.mean(agreement, axis=0).min() >= 0.98
    # 70 graphs: .4 nats at most, of more than ten thousand.
    assert max(excess) <= 2.0


@pytest.mark.parametrize("mixing", [0.3, 0.4])
def test_up_to_a_thousand_nodes_the_better_description_wins(mixing):
    """Large communities beside small ones, where k-means cuts the large ones on some graphs."""
    won = set()
    for seed in range(6):
        graph, _ = lfr(900, mixing)(seed)
        exact, many = (kg.detect_communities(graph, regime=regime) for regime in ALL[::2])
        found = kg.detect_communities(graph)
        won.add(found.report.regime)
        assert length(graph, found) <= length(graph, exact)
        if len(many) >= exact.report.k_hat:
            assert length(graph, found) <= length(graph, many)
    assert won == {"Exact", "ManyGroups"}


@pytest.mark.parametrize("snr", [1.3, 1.45, 1.75])
def test_the_border_of_faint_communities(snr):
    """On either side of 1.6 Auto knows the number of communities, and is no worse than either."""
    graph, truth = planted_partition(4_000, k=8, degree=12.0, snr=snr, rng=1)
    found = kg.detect_communities(graph)
    assert len(found) == 8
    for regime in LARGE:
        other = kg.detect_communities(graph, regime=regime)
        assert nmi(truth, found.labels) >= nmi(truth, other.labels) - 0.05
