"""Communities of one component by its eigenvectors, filtered or exact."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import graph_of, largest_part
from kgroups._csr import connected_components
from kgroups.adapters import as_graph
from kgroups.embedding import KMeansInit, QRInit, informative_eigenpairs
from kgroups.generators import planted_partition
from kgroups.metrics import nmi, overlap
from kgroups.refine import Hartigan
from kgroups.search.candidates import absorb_fragments, by_eigenvectors, by_filter, refined
from kgroups.search.problem import Options
from kgroups.spectrum import moments

pytestmark = pytest.mark.compiled

FILTERED, KMEANS, HARTIGAN = kg.Spectral("filtered"), KMeansInit(), Hartigan()


def options_of(*, method=FILTERED, init=KMEANS, refine=HARTIGAN):
    return Options(method, init, refine, weighted=False, progress=lambda stage: None)


def communities_of(graph, *, k=None, **options):
    part, rows = largest_part(graph)
    rng = np.random.default_rng(0)
    return by_filter(part, moments(part.bound), options_of(**options), rng, k=k), rows


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "k", "degree", "snr", "least"),
    [(10_000, 2, 5.0, 1.5, 0.77), (10_000, 5, 10.0, 1.5, 0.81), (9_000, 9, 12.0, 2.0, 0.97)],
)
def test_planted_communities_are_found(n, k, degree, snr, least):
    """Bounds: mean - 5 sd of eight graphs, which gave .799-.818, .839-.855 and .980-.985."""
    graph, truth = planted_partition(n, k=k, degree=degree, snr=snr, rng=3)
    found, rows = communities_of(graph)
    assert found.k == k
    assert np.unique(found.z).tolist() == list(range(k))
    assert overlap(truth[rows], found.z) >= least
    assert found.refinement is not None


def test_a_graph_without_signal_is_one_community():
    graph, _ = planted_partition(5_000, k=2, degree=8.0, snr=0.0, rng=1)
    found, rows = communities_of(graph)
    assert (found.k, found.refinement) == (1, None)
    assert found.z.tolist() == [0] * rows.size


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_a_given_k_is_met(k):
    graph, _ = planted_partition(6_000, k=4, degree=10.0, snr=2.0, rng=0)
    found, _ = communities_of(graph, k=k)
    assert found.k == k
    assert np.unique(found.z).tolist() == list(range(k))


def test_agreement_with_the_exact_method():
    graph, _ = planted_partition(6_000, k=6, degree=12.0, snr=2.5, rng=0)
    found, rows = communities_of(graph)
    exact = kg.detect_communities(graph, method=kg.Spectral("exact"))
    assert nmi(exact.labels[rows], found.z) >= 0.98


def test_labels_of_a_sample_reach_all_rows():
    graph, truth = planted_partition(6_000, k=4, degree=10.0, snr=2.5, rng=0)
    for init in (KMeansInit(), QRInit()):
        found, rows = communities_of(
            graph, method=kg.Spectral("filtered", sample=400), init=init, refine=None
        )
        assert found.refinement is None
        assert overlap(truth[rows], found.z) > 0.9


def test_labels_from_a_filter_are_refined_fast():
    """The graph may be large; with exact eigenvectors it is not."""
    asked = []

    class Recorded:
        def refine(self, problem, labels):
            asked.append((problem.k, problem.fast))
            return HARTIGAN.refine(problem, labels)

    graph, _ = planted_partition(3_000, k=3, degree=10.0, snr=2.0, rng=0)
    communities_of(graph, refine=Recorded())
    part, _ = largest_part(graph)
    _, V = informative_eigenpairs(part.bound, 3, "normalized")
    by_eigenvectors(part, V, options_of(refine=Recorded()), np.random.default_rng(0))
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
                labels.append(communities_of(graph)[0].z)
        # Rounding turns the vectors of equal eigenvalues, which may change the numbers of groups.
        counts = [len(np.unique(z, axis=0)) for z in (*labels, np.stack(labels, axis=1))]
        assert counts[0] == counts[1] == counts[2]


def test_as_many_communities_as_eigenvectors():
    """All of them connected, on a graph where some nodes are lost in noise."""
    G = nx.compose(nx.ring_of_cliques(8, 6), nx.path_graph(range(47, 60)))
    graph = graph_of(nx.convert_node_labels_to_integers(G))
    part, _ = largest_part(graph)
    _, V = informative_eigenpairs(part.bound, 8, "normalized")
    found = by_eigenvectors(part, V, options_of(), np.random.default_rng(0))
    assert found.k == 8
    assert connected_components(part.A, found.z)[0] == 8
    assert found.refinement is not None
    plain = by_eigenvectors(part, V, options_of(refine=None), np.random.default_rng(0))
    assert plain.refinement is None


def test_labels_are_improved_and_their_number_stays():
    part, _ = largest_part(graph_of(nx.ring_of_cliques(8, 6)))
    cliques = np.repeat(np.arange(8), 6)
    stray = cliques.copy()
    stray[::6] = (stray[::6] + 1) % 8
    assert refined(part, stray, HARTIGAN).z.tolist() == cliques.tolist()
    unrefined = refined(part, cliques, None)
    assert (unrefined.z.tolist(), unrefined.k) == (cliques.tolist(), 8)


def test_fragments_join_the_neighbor_they_know_best():
    G = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (5, 6), (4, 6)])
    A = as_graph(G).simple_adjacency()
    z, k = absorb_fragments(A, np.array([0, 0, 0, 1, 1, 1, 0]))
    assert k == 2
    assert z.tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("seed", range(10))
def test_absorbing_fragments_keeps_the_number_of_groups_and_connects_them(seed):
    G = nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=seed)
    A = as_graph(G).simple_adjacency()
    z = np.random.default_rng(seed).integers(0, 5, 40)
    z[:5] = np.arange(5)
    joined, k = absorb_fragments(A, z)
    assert k == 5
    assert connected_components(A, joined)[0] == 5
    for a in range(5):
        pieces = nx.connected_components(G.subgraph(np.flatnonzero(z == a)))
        largest = max(pieces, key=lambda piece: (len(piece), -min(piece)))
        assert set(joined[list(largest)]) == {a}


def test_pieces_without_a_neighbor_in_another_group_stay():
    G = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(3))
    A = as_graph(G).simple_adjacency()
    assert absorb_fragments(A, np.zeros(7, dtype=np.int64))[0].tolist() == [0] * 7
