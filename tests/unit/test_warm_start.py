"""Detection that starts from labels, of a graph that has changed a little or from anywhere."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InputError, PartitionError
from kgroups.generators import planted_partition
from kgroups.metrics import nmi

METHODS = (kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered"), kg.Search())
RING = nx.ring_of_cliques(8, 6)
CLIQUES = [set(range(6 * a, 6 * a + 6)) for a in range(8)]
SHIFTED = [{(node + 2) % 48 for node in clique} for clique in CLIQUES]


def forms_of(communities, graph):
    """Return the same communities in every form that is taken."""
    membership = {node: a for a, community in enumerate(communities) for node in community}
    return {
        "partition": kg.refine_partition(graph, communities),
        "sets": communities,
        "labels": np.array([membership[node] for node in graph]),
        "dict": membership,
        "names as labels": {node: f"group {a}" for node, a in membership.items()},
    }


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("form", ["partition", "sets", "labels", "dict", "names as labels"])
def test_any_form_of_labels_can_be_started_from(method, form):
    start = forms_of(SHIFTED, RING)[form]
    found = kg.detect_communities(RING, init=kg.WarmStart(start), method=method)
    assert set(map(frozenset, found)) == set(map(frozenset, CLIQUES))
    assert found.report.init.startswith("WarmStart(")


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_labels_belong_to_nodes_whatever_their_order(method):
    names = {node: f"v{(7 * node) % 48:02d}" for node in RING}
    G = nx.relabel_nodes(RING, names)
    start = {names[node]: a for a, clique in enumerate(CLIQUES) for node in clique}
    found = kg.detect_communities(G, init=kg.WarmStart(start), method=method)
    assert set(map(frozenset, found)) == {frozenset(map(names.get, c)) for c in CLIQUES}


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_given_k_and_labels_to_start_from_exclude_one_another(method):
    with pytest.raises(InputError, match=r"finds the number of communities itself, got k=8\.\n"):
        kg.detect_communities(RING, 8, init=kg.WarmStart(CLIQUES), method=method)


def test_labels_must_cover_the_graph():
    with pytest.raises(PartitionError):
        kg.detect_communities(RING, init=kg.WarmStart(CLIQUES[1:]))


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(np.zeros(48, dtype=int), id="one"),
        pytest.param(np.arange(48), id="singletons"),
        pytest.param(np.arange(48) % 5, id="stripes"),
    ],
)
def test_labels_across_components_never_join_them(method, start):
    G = nx.disjoint_union(nx.ring_of_cliques(4, 6), nx.ring_of_cliques(4, 6))
    G = nx.disjoint_union(G, nx.empty_graph(2))
    labels = np.append(start, [0, 0])
    found = kg.detect_communities(G, init=kg.WarmStart(labels), method=method)
    assert nx.community.is_partition(G, found)
    assert all(nx.is_connected(G.subgraph(community)) for community in found)
    assert {48} in found
    assert {49} in found


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs_can_be_started_on(method, n):
    for G in (nx.empty_graph(n), nx.path_graph(n)):
        found = kg.detect_communities(G, init=kg.WarmStart([0] * n), method=method)
        assert len(found) == nx.number_connected_components(G)


def changed(graph, edges, rng):
    """Return the graph with some random edges more."""
    u, v, _ = graph.edges()
    x, y = rng.integers(graph.n, size=(2, edges))
    return kg.Graph.from_edges(np.append(u, x), np.append(v, y), n=graph.n)


EIGENVECTORS = [
    pytest.param(400, kg.Spectral("exact"), id="exact"),
    pytest.param(3_000, kg.Spectral("filtered"), id="filtered", marks=pytest.mark.compiled),
]
SIZES = [
    pytest.param(400, kg.Auto(), id="auto, small"),
    pytest.param(3_000, kg.Auto(), id="auto, large", marks=pytest.mark.compiled),
    pytest.param(3_000, kg.Search(), id="search", marks=pytest.mark.compiled),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "method"), [*SIZES, *EIGENVECTORS])
def test_a_warm_start_after_a_small_change_ends_near_the_cold_one(n, method):
    """Least NMI of both: 1 on 20 graphs of 400 nodes, .9994 on 8 of 3,000; k was always right."""
    graph, _ = planted_partition(n, k=n // 100, degree=14.0, snr=2.8, rng=1)
    before = kg.detect_communities(graph, method=method)
    after = changed(graph, n // 100, np.random.default_rng(2))
    cold = kg.detect_communities(after, method=method)
    warm = kg.detect_communities(after, init=kg.WarmStart(before), method=method)
    assert len(warm) == len(cold) == n // 100
    assert nmi(cold.labels, warm.labels) >= 0.995


NONSENSE = {
    "one": lambda n: np.zeros(n, dtype=np.int64),
    "singletons": np.arange,
    "stripes": lambda n: np.arange(n) % 7,
    "random": lambda n: np.random.default_rng(0).integers(0, n // 100, n),
}


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "method"), SIZES)
@pytest.mark.parametrize("labels", NONSENSE)
def test_nonsense_labels_do_no_harm_on_a_clear_graph(n, method, labels):
    """Least NMI with the truth: .990 on 20 graphs of 400 nodes (sd .004), .998 on 8 of 3,000."""
    graph, truth = planted_partition(n, k=n // 100, degree=14.0, snr=2.8, rng=1)
    start = kg.WarmStart(NONSENSE[labels](n))
    found = kg.detect_communities(graph, init=start, method=method)
    assert len(found) == n // 100
    assert nmi(truth, found.labels) >= 0.97


@pytest.mark.parametrize(("n", "method"), EIGENVECTORS)
def test_without_the_search_labels_are_improved_and_their_number_stays(n, method):
    graph, truth = planted_partition(n, k=n // 100, degree=14.0, snr=2.8, rng=1)
    start = np.where(np.arange(n) % 10 == 0, (truth + 1) % (n // 100), truth)
    found = kg.detect_communities(graph, init=kg.WarmStart(start), method=method)
    assert len(found) == n // 100
    assert nmi(truth, found.labels) > nmi(truth, start)
    whole = kg.detect_communities(graph, init=kg.WarmStart(np.zeros(n, dtype=int)), method=method)
    assert len(whole) == 1


@pytest.mark.parametrize("method", [kg.Auto(), kg.Search()], ids=repr)
def test_labels_of_a_random_graph_are_given_up(method):
    G = nx.gnm_random_graph(300, 1_200, seed=4)
    start = [node % 4 for node in G]
    cold = kg.detect_communities(G, method=method)
    warm = kg.detect_communities(G, init=kg.WarmStart(start), method=method)
    assert len(warm) == len(cold) == 1


PAIRS = [CLIQUES[a] | CLIQUES[a + 1] for a in range(0, 8, 2)]


@pytest.mark.parametrize("method", [kg.Spectral("exact"), kg.Spectral("filtered")], ids=repr)
def test_connected_labels_are_left_as_they_are_where_nothing_is_refined(method):
    found = kg.detect_communities(RING, init=kg.WarmStart(PAIRS), refine=None, method=method)
    assert set(map(frozenset, found)) == set(map(frozenset, PAIRS))


def test_communities_that_were_merged_are_found_from_labels():
    assert len(kg.detect_communities(RING, init=kg.WarmStart(PAIRS))) == 8
