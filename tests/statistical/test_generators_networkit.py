"""LFR graphs beside those of NetworKit: the same laws, and as hard for another method."""

import random

import igraph
import numpy as np
import pytest
from scipy import stats

from benchmarks.graphs import lfr as networkit_lfr
from kgroups.generators import lfr_benchmark
from kgroups.graph import Graph
from kgroups.metrics import nmi

pytestmark = pytest.mark.statistical

N, SEEDS = 4000, range(4)


def networkit_graphs(mixing):
    drawn = [networkit_lfr("lfr", n=N, degree=20, mixing=mixing, seed=seed) for seed in SEEDS]
    return [(Graph.from_edges(one.source, one.target, n=N), one.truth) for one in drawn]


def our_graphs(mixing):
    return [lfr_benchmark(N, degree=20, mixing=mixing, rng=seed) for seed in SEEDS]


@pytest.fixture(autouse=True)
def _own_igraph_randomness():
    yield
    igraph.set_random_number_generator(random)


@pytest.fixture(scope="module", params=[0.2, 0.5])
def both(request):
    pytest.importorskip("networkit")
    return request.param, our_graphs(request.param), networkit_graphs(request.param)


def test_degrees_and_sizes_are_alike(both):
    _, ours, theirs = both
    degrees = [np.concatenate([graph.degrees for graph, _ in graphs]) for graphs in (ours, theirs)]
    sizes = [np.concatenate([np.bincount(z) for _, z in graphs]) for graphs in (ours, theirs)]
    # NetworKit has whole smallest degrees only, so that its mean degree is off by up to a half.
    assert stats.ks_2samp(*degrees).statistic < 0.1
    assert abs(degrees[0].mean() - 20) < 0.5
    assert stats.ks_2samp(*sizes).pvalue > 1e-4


def test_mixing_is_alike(both):
    mixing, ours, theirs = both
    shares = []
    for graphs in (ours, theirs):
        outside = [np.mean(z[graph.row_of_slot] != z[graph.indices]) for graph, z in graphs]
        shares.append(np.mean(outside))
    assert shares[0] == pytest.approx(mixing, abs=0.005)
    # NetworKit rounds the internal degree of each node down.
    assert shares[0] - 0.01 < shares[1] < shares[0] + 0.03


def test_communities_are_as_hard_to_find(both):
    _, ours, theirs = both
    scores = []
    for graphs in (ours, theirs):
        found = []
        for seed, (graph, z) in enumerate(graphs):
            igraph.set_random_number_generator(random.Random(seed))
            leiden = graph.to_igraph().community_leiden(objective_function="modularity")
            found.append(nmi(z, np.array(leiden.membership)))
        scores.append(np.mean(found))
    assert scores[0] == pytest.approx(scores[1], abs=0.03)
