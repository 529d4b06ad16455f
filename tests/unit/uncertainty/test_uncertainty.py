"""The public posterior: what it starts from, what it says, and what it refuses."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import graph_of
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.generators import degree_corrected_sbm, girvan_newman_benchmark, planted_partition

KARATE = nx.karate_club_graph()


def test_columns_are_the_communities_of_the_partition():
    graph, _ = planted_partition(400, 3, 8.0, 2.0, sizes="multinomial", rng=2)
    found = kg.posterior(graph, 3)
    assert found.accepted
    assert found.marginals.shape == (400, 3)
    assert np.argmax(found.marginals, axis=1).tolist() == found.partition.labels.tolist()
    assert found.confidence.tolist() == found.marginals.max(axis=1).tolist()
    assert found.labels is found.partition.labels
    sizes = found.marginals.sum(axis=0)
    assert sizes.tolist() == sorted(sizes, reverse=True)


def test_rates_belong_to_their_columns():
    """A clique of 12 and a sparse group of 40: the smaller is the denser."""
    G = nx.disjoint_union(nx.complete_graph(12), nx.gnm_random_graph(40, 120, seed=0))
    G.add_edges_from((i, 20 + i) for i in range(4))
    found = kg.posterior(G, partition=[set(range(12)), set(range(12, 52))])
    assert found.rates == "own"
    assert found.partition.sizes.tolist() == [40, 12]
    assert found.inside[1] > 2.0 * found.inside[0]
    assert found.prior[0] == pytest.approx(41 / 54, abs=0.05)


def test_the_model_follows_the_degrees():
    even, _ = planted_partition(500, 2, 6.0, 1.8, rng=0)
    uneven, _ = degree_corrected_sbm([300, 300], [[0.03, 0.005], [0.005, 0.03]], rng=0)
    one, other = kg.posterior(even, 2), kg.posterior(uneven, 2)
    assert not one.degree_corrected
    assert one.dispersion < 1.3
    assert one.model == "uniform, one density"
    assert other.degree_corrected
    assert other.dispersion > 1.3
    assert other.model == "degree-corrected, one density"
    assert kg.posterior(even, 2, degrees="corrected").degree_corrected


def test_without_k_and_partition_communities_are_detected():
    found, detected = kg.posterior(KARATE), kg.detect_communities(KARATE)
    assert found.rates == "own"
    assert found.marginals.shape == (34, detected.k)
    assert found.partition == detected


def test_confidence_of_a_partition_is_its_posterior():
    partition = kg.detect_communities(KARATE)
    found = kg.posterior(KARATE, partition=partition)
    chosen = found.marginals[np.arange(34), partition.labels]
    assert partition.confidence() == pytest.approx(chosen, abs=1e-12)


def test_labels_that_fit_worse_are_not_taken():
    """Dense graphs near the threshold: belief propagation loses what eigenvectors found."""
    refused = 0
    for seed in range(4):
        graph = girvan_newman_benchmark(1.0, rng=seed).graph
        found = kg.posterior(graph, 4)
        first = kg.detect_communities(graph, 4, refine=None).labels
        assert found.accepted or found.partition == kg.Partition(first)
        refused += not found.accepted
    assert refused > 0


@pytest.mark.parametrize("k", [1, 2, 34])
def test_any_k_has_probabilities(k):
    found = kg.posterior(KARATE, k)
    assert found.marginals.shape == (34, k)
    assert found.marginals.sum(axis=1) == pytest.approx(np.ones(34), abs=1e-9)
    assert found.partition.k == k


@pytest.mark.parametrize("G", [nx.empty_graph(0), nx.empty_graph(3), nx.path_graph(2)])
def test_graphs_without_much_are_answered(G):
    found = kg.posterior(G)
    assert found.free_energy == pytest.approx(0.0, abs=1e-9)
    assert found.converged
    assert repr(found).startswith(f"Posterior({found.partition.k} communit")


def test_components_isolated_nodes_and_weights():
    G = nx.disjoint_union_all([KARATE, nx.complete_graph(5), nx.empty_graph(2)])
    found = kg.posterior(G, 4)
    assert found.marginals.shape == (41, 4)
    assert np.isfinite(found.marginals).all()
    assert found.marginals.sum(axis=1) == pytest.approx(np.ones(41), abs=1e-9)


def test_node_order_does_not_matter():
    order = np.random.default_rng(0).permutation(34).tolist()
    H = nx.Graph()
    H.add_nodes_from(order)
    H.add_edges_from(KARATE.edges)
    one, other = kg.posterior(KARATE, 2, weight=None), kg.posterior(H, 2)
    assert other.partition == one.partition
    assert other.confidence == pytest.approx(one.confidence[order], abs=1e-9)
    assert other.free_energy == pytest.approx(one.free_energy, abs=1e-9)


def test_self_loops_do_not_count():
    H = nx.Graph(KARATE)
    H.add_edge(0, 0)
    one, other = kg.posterior(KARATE, 2), kg.posterior(H, 2)
    assert other.marginals == pytest.approx(one.marginals, abs=1e-12)


def test_the_repr_says_what_was_chosen():
    text = repr(kg.posterior(KARATE, 2, weight=None))
    assert text.splitlines()[0] == "Posterior(2 communities of 34 nodes)"
    for part in ("degree-corrected", "evidence over one community", "mean confidence", "converged"):
        assert part in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_a_posterior_is_frozen():
    with pytest.raises(AttributeError):
        kg.posterior(KARATE, 2).between = 1.0


def test_progress_is_counted():
    seen = []
    kg.posterior(KARATE, 2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (220, 220)
    assert all(done <= total for done, total in seen)


def test_too_many_messages_are_refused():
    graph = graph_of(nx.gnm_random_graph(500, 2_000, seed=0))
    with pytest.raises(InputError, match=r"4000 x 500 messages.*1e\+06.*\n.*confidence\(\)"):
        kg.posterior(graph, partition=np.arange(500), max_messages=1e6)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rates": "free"}, "rates"),
        ({"degrees": "some"}, "degrees"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"partition": [0] * 34}, "must not both be given"),
    ],
)
def test_arguments_are_checked(options, match):
    with pytest.raises(InputError, match=match):
        kg.posterior(KARATE, 2, **options)


@pytest.mark.parametrize("k", [0, 35, 2.5])
def test_k_is_checked(k):
    with pytest.raises(NumberOfCommunitiesError):
        kg.posterior(KARATE, k)


@pytest.mark.parametrize("rates", ["auto", "planted", "own"])
def test_a_graph_without_nodes_has_a_posterior(rates):
    found = kg.posterior(nx.empty_graph(0), rates=rates)
    assert found.marginals.shape[0] == 0
    assert "of 0 nodes" in repr(found)
