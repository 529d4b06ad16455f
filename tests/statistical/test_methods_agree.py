"""Where communities are clear all methods find them, and Auto saves as many nats as any."""

from itertools import combinations

import numpy as np
import pytest

import kgroups as kg
from helpers.kernels_levels import nats_of
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import nmi

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]

ALL = (kg.Spectral("exact"), kg.Spectral("filtered"), kg.Search())
LARGE = (kg.Spectral("filtered"), kg.Search())


def planted(n, k, degree, snr):
    return lambda seed: planted_partition(n, k=k, degree=degree, snr=snr, rng=seed)


def lfr(n, mixing, max_community=None):
    return lambda seed: lfr_benchmark(
        n, degree=15, mixing=mixing, max_community=max_community, rng=seed
    )


def saved(graph, partition):
    """Return the nats that a partition saves in all components."""
    return nats_of(graph, partition.labels).sum()


# The least mean NMI of two methods over the seeds 0 to 9 (0 to 2 on the large graphs), and the
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


@pytest.mark.parametrize(("draw", "methods"), CLEAR)
def test_methods_agree_where_communities_are_clear(draw, methods):
    """Bound: three standard errors or more below the means above."""
    seeds = range(100, 103) if len(methods) == 3 else range(100, 101)
    agreement = []
    for seed in seeds:
        graph, _ = draw(seed)
        forced = [kg.detect_communities(graph, method=method) for method in methods]
        found = kg.detect_communities(graph)
        pairs = combinations([*forced, found], 2)
        agreement.append([nmi(first.labels, second.labels) for first, second in pairs])
        most = max(saved(graph, other) for other in forced)
        assert saved(graph, found) >= (1.0 - 1e-3) * most
    assert np.mean(agreement, axis=0).min() >= 0.98


@pytest.mark.parametrize("snr", [1.3, 1.45, 1.75])
def test_faint_communities(snr):
    """Auto knows the number of communities, and is no worse than either way alone."""
    graph, truth = planted_partition(4_000, k=8, degree=12.0, snr=snr, rng=1)
    found = kg.detect_communities(graph)
    assert len(found) == 8
    for method in LARGE:
        other = kg.detect_communities(graph, method=method)
        assert nmi(truth, found.labels) >= nmi(truth, other.labels) - 0.05
