import networkx as nx
import numba
import numpy as np
import pytest

import kgroups as kg
from kgroups import BetheHessian
from kgroups._csr import restricted
from kgroups.generators import planted_partition
from kgroups.metrics import nmi, overlap
from kgroups.refine import Hartigan
from kgroups.regimes import few
from kgroups.regimes.few import few_communities
from kgroups.regimes.problem import Part
from kgroups.seed import KMeansSeed, QRSeed
from kgroups.spectrum import connected_components, moments

pytestmark = pytest.mark.compiled


def part_of(graph):
    """Return the largest component as a Part, and its nodes."""
    A = graph.simple_adjacency()
    _, labels = connected_components(A)
    rows = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    bound = BetheHessian().bind(A, weighted=graph.is_weighted).restrict(rows)
    d = np.asarray(graph.to_scipy().sum(axis=1)).ravel()[rows]
    return Part(restricted(A, rows), d.astype(float), bound), rows


def communities_of(graph, *, init=KMeansSeed(), refine=Hartigan(), k=None):
    part, rows = part_of(graph)
    return few_communities(
        part, moments(part.bound), init, refine, np.random.default_rng(0), k=k
    ), rows


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
    assert found.visits > 0
    assert found.refinement is not None
    assert found.leading.k == k


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


def test_agreement_with_the_exact_regime():
    graph, _ = planted_partition(6_000, k=6, degree=12.0, snr=2.5, rng=0)
    found, rows = communities_of(graph)
    exact = kg.detect_communities(graph, regime=kg.Exact())
    assert nmi(exact.labels[rows], found.z) >= 0.98


def test_labels_of_a_sample_reach_all_rows(monkeypatch):
    monkeypatch.setattr(few, "_SAMPLE", 400)
    graph, truth = planted_partition(6_000, k=4, degree=10.0, snr=2.5, rng=0)
    for init in (KMeansSeed(), QRSeed()):
        found, rows = communities_of(graph, init=init, refine=None)
        assert found.refinement is None
        assert overlap(truth[rows], found.z) > 0.9


def test_the_guard_is_asked_where_refinement_loses(monkeypatch):
    graph, _ = planted_partition(3_000, k=3, degree=10.0, snr=2.0, rng=0)
    asked = []
    refined = Part.refined

    def recorded(part, z, k, method):
        asked.append(method.guard)
        return refined(part, z, k, method)

    monkeypatch.setattr(Part, "refined", recorded)
    communities_of(graph)
    assert asked == [None]
    communities_of(graph, refine=Hartigan(guard=None))
    assert asked == [None, None]
    fit = few.planted_fit
    losses = iter([0.0, 1.0])
    monkeypatch.setattr(
        few, "planted_fit", lambda *a, **o: fit(*a, **o)._replace(gain=next(losses))
    )
    communities_of(graph)
    assert asked == [None, None, None, Hartigan().guard]


def test_communities_do_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    graphs = [
        planted_partition(30_000, k=5, degree=10.0, snr=1.6, rng=0)[0],
        kg.as_graph(nx.ring_of_cliques(60, 20)),
    ]
    most = numba.config.NUMBA_NUM_THREADS
    for graph in graphs:
        labels = []
        for threads in (1, most):
            numba.set_num_threads(threads)
            try:
                with threadpool_limits(threads):
                    labels.append(communities_of(graph)[0].z)
            finally:
                numba.set_num_threads(most)
        # Rounding turns the vectors of equal eigenvalues, which may change the numbers of groups.
        counts = [len(np.unique(z, axis=0)) for z in (*labels, np.stack(labels, axis=1))]
        assert counts[0] == counts[1] == counts[2]
