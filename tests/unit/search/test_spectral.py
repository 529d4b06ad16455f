"""Communities of one component by its eigenvectors, filtered or exact."""

from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import ONE, graph_of, largest_part, problem_of
from kgroups._csr import connected_components
from kgroups.generators import planted_partition
from kgroups.hartigan import Hartigan, KMeansInit, QRInit, informative_eigenpairs
from kgroups.metrics import nmi, overlap
from kgroups.search.candidates import (
    Detection,
    Options,
    _refined_start,
    connected,
    labels_by_filter,
    labels_by_vectors,
    leading_of,
)
from kgroups.spectrum import leading_pairs, moments

pytestmark = pytest.mark.compiled

FILTERED, KMEANS, HARTIGAN = kg.Spectral("filtered"), KMeansInit(), Hartigan()


def options_of(*, method=FILTERED, init=KMEANS, refine=HARTIGAN):
    return Options(method, init, refine, progress=lambda stage: None)


class Found(NamedTuple):
    """Labels of a connected part, its nodes, and how many times labels were refined."""

    z: np.ndarray
    rows: np.ndarray
    refined: int


def by_filter(graph, *, k=None, **options):
    """Return the communities of the largest part by a filtered subspace."""
    part, rows = largest_part(graph)
    measured, found = moments(part.hessian), Detection(rows)
    leading = leading_pairs(measured) if k is None else leading_of(part, measured, k)
    z = labels_by_filter(part, leading, options_of(**options), 0, found)
    return Found(z, rows, found.refinements.components)


def by_vectors(graph, k, **options):
    """Return the communities of the largest part by exact eigenvectors."""
    part, rows = largest_part(graph)
    _, V = informative_eigenpairs(part.hessian, k, "normalized")
    found = Detection(rows)
    (z,) = labels_by_vectors(part, [V], ONE, options_of(**options), 0, found)
    return Found(z, rows, found.refinements.components)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "k", "degree", "snr", "least"),
    [(10_000, 2, 5.0, 1.5, 0.77), (10_000, 5, 10.0, 1.5, 0.81), (9_000, 9, 12.0, 2.0, 0.97)],
)
def test_planted_communities_are_found(n, k, degree, snr, least):
    """Bounds: mean - 5 sd of eight graphs, which gave .799-.818, .839-.855 and .980-.985."""
    graph, truth = planted_partition(n, k=k, degree=degree, snr=snr, rng=3)
    found = by_filter(graph)
    assert np.unique(found.z).tolist() == list(range(k))
    assert overlap(truth[found.rows], found.z) >= least
    assert found.refined == 1


def test_a_graph_without_signal_is_one_community():
    graph, _ = planted_partition(5_000, k=2, degree=8.0, snr=0.0, rng=1)
    found = by_filter(graph)
    assert found.z.tolist() == [0] * found.rows.size
    assert found.refined == 0


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_a_given_k_is_met(k):
    graph, _ = planted_partition(6_000, k=4, degree=10.0, snr=2.0, rng=0)
    assert np.unique(by_filter(graph, k=k).z).tolist() == list(range(k))


def test_agreement_with_the_exact_method():
    graph, _ = planted_partition(6_000, k=6, degree=12.0, snr=2.5, rng=0)
    found = by_filter(graph)
    exact = kg.detect_communities(graph, method=kg.Spectral("exact"))
    assert nmi(exact.labels[found.rows], found.z) >= 0.98


def test_labels_of_a_sample_reach_all_rows():
    graph, truth = planted_partition(6_000, k=4, degree=10.0, snr=2.5, rng=0)
    for init in (KMeansInit(), QRInit()):
        method = kg.Spectral("filtered", sample=400)
        found = by_filter(graph, method=method, init=init, refine=None)
        assert found.refined == 0
        assert overlap(truth[found.rows], found.z) > 0.9


def test_labels_from_a_filter_are_refined_fast():
    """The graph may be large; with exact eigenvectors it is not."""
    asked = []

    class Recorded:
        def refine(self, problem, labels):
            asked.append((int(labels.max()) + 1, problem.fast))
            return HARTIGAN.refine(problem, labels)

    graph, _ = planted_partition(3_000, k=3, degree=10.0, snr=2.0, rng=0)
    by_filter(graph, refine=Recorded())
    by_vectors(graph, 3, refine=Recorded())
    assert asked == [(3, True), (3, False)]


def test_communities_do_not_depend_on_the_number_of_threads(monkeypatch):
    from threadpoolctl import threadpool_limits

    graphs = [
        planted_partition(30_000, k=5, degree=10.0, snr=1.6, rng=0)[0],
        kg.as_graph(nx.ring_of_cliques(60, 20)),
    ]
    for graph in graphs:
        labels = []
        for threads in (1, 3):
            monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
            with threadpool_limits(threads):
                labels.append(by_filter(graph).z)
        # Rounding turns the vectors of equal eigenvalues, which may change the numbers of groups.
        counts = [len(np.unique(z, axis=0)) for z in (*labels, np.stack(labels, axis=1))]
        assert counts[0] == counts[1] == counts[2]


def test_as_many_communities_as_eigenvectors():
    """All of them connected, on a graph where some nodes are lost in noise."""
    G = nx.compose(nx.ring_of_cliques(8, 6), nx.path_graph(range(47, 60)))
    graph = graph_of(nx.convert_node_labels_to_integers(G))
    found = by_vectors(graph, 8)
    problem = problem_of(graph)
    z, k = connected(problem, found.z, np.array([8]), ONE)
    assert k.tolist() == [8]
    assert connected_components(problem.A, z)[0] == np.unique(z).size == 8
    assert found.refined == 1
    assert by_vectors(graph, 8, refine=None).refined == 0


def test_labels_are_improved_and_their_number_stays():
    problem = problem_of(graph_of(nx.ring_of_cliques(8, 6)))
    cliques, found = np.repeat(np.arange(8), 6), Detection(problem.component)
    stray = cliques.copy()
    stray[::6] = (stray[::6] + 1) % 8
    assert nmi(cliques, _refined_start(problem, stray, ONE, HARTIGAN, found).z) == 1.0
    assert found.refinements.components == 1
    unrefined = _refined_start(problem, cliques, ONE, None, found)
    assert (unrefined.z.tolist(), unrefined.k.tolist()) == (cliques.tolist(), [8])
    assert found.refinements.components == 1


def test_fragments_join_the_neighbor_that_saves_most():
    G = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (5, 6), (4, 6)])
    z, k = connected(problem_of(graph_of(G)), np.array([0, 0, 0, 1, 1, 1, 0]), np.array([2]), ONE)
    assert k.tolist() == [2]
    assert z.tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(10))
def test_connected_communities_keep_their_largest_pieces(seed):
    """Single nodes join a neighbor too, so that a community of one is none."""
    G = nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=seed)
    problem, z = problem_of(graph_of(G)), np.random.default_rng(seed).integers(0, 5, 40)
    z[:5] = np.arange(5)
    joined, k = connected(problem, z, np.array([5]), ONE)
    assert np.bincount(joined).min() > 1
    assert connected_components(problem.A, joined)[0] == np.unique(joined).size == k[0]
    owners = []
    for a in range(5):
        pieces = nx.connected_components(G.subgraph(np.flatnonzero(z == a)))
        largest = max(pieces, key=lambda piece: (len(piece), -min(piece)))
        if len(largest) > 1:
            owners.append(set(joined[list(largest)].tolist()))
    assert all(len(owner) == 1 for owner in owners)
    assert len(set.union(*owners)) == len(owners) <= k[0]


def test_communities_that_are_connected_stay_as_they_are():
    problem = problem_of(graph_of(nx.ring_of_cliques(4, 5)))
    z = np.repeat(np.arange(4), 5)
    found, k = connected(problem, z, np.array([4]), ONE)
    assert (found.tolist(), k.tolist()) == (z.tolist(), [4])


def test_a_fragment_without_a_neighbor_is_a_community():
    G = nx.disjoint_union_all([nx.complete_graph(4), nx.complete_graph(3), nx.complete_graph(4)])
    problem = problem_of(graph_of(G)).as_one()
    z, k = connected(problem, np.repeat([0, 1], [7, 4]), np.array([2]), ONE)
    assert (z.tolist(), k.tolist()) == ([0] * 4 + [1] * 3 + [2] * 4, [3])


def test_only_the_components_asked_for_are_connected():
    G = nx.disjoint_union(nx.path_graph(6), nx.path_graph(6))
    problem, z = problem_of(graph_of(G)), np.tile([0, 0, 1, 1, 0, 0], 2)
    found, k = connected(problem, z, np.array([2, 2]), np.array([1]))
    assert found[:6].tolist() == z[:6].tolist()
    assert k[0] == 2
    assert connected_components(problem.A, found)[1][6:].max() == 2 + k[1]
