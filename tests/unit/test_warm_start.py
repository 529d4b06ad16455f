"""Detection that starts from labels, of a graph that has changed a little or from anywhere."""

import itertools

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgroups as kg
from kgroups.adapters import as_shared_labels
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


def named(node):
    return f"v{node:02d}"


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("form", ["partition", "sets", "dict", "series", "clustering"])
def test_new_nodes_start_alone_and_vanished_ones_are_dropped(method, form):
    before = nx.relabel_nodes(RING, named)
    start = forms_of([set(map(named, clique)) for clique in CLIQUES], before)
    start["series"] = pd.Series(start["dict"])
    if form == "clustering":
        graph = igraph.Graph.TupleList(before.edges)
        membership = [start["dict"][name] for name in graph.vs["name"]]
        start[form] = igraph.VertexClustering(graph, membership)
    after = before.copy()
    after.remove_nodes_from(["v00", "v13"])
    after.add_edges_from((f"new {a}", named(6 * a + i)) for a in range(3) for i in (2, 3, 4))
    found = kg.detect_communities(after, init=kg.WarmStart(start[form]), method=method)
    assert sorted(map(len, found)) == [*[6] * 7, 7]
    assert nx.community.is_partition(after, found)
    assert (found.report.nodes_new, found.report.nodes_vanished) == (3, 2)
    said = "Since the labels to start from, 3 nodes are new and started alone; 2 nodes have"
    assert any(line.startswith(said) for line in found.report.lines())


def test_new_nodes_stay_alone_where_nothing_is_refined():
    G = nx.disjoint_union(RING, nx.path_graph(2))
    start, method = kg.WarmStart(PAIRS), kg.Spectral("exact")
    found = kg.detect_communities(G, init=start, method=method, refine=None)
    assert set(map(frozenset, PAIRS)) < set(found)
    assert found.report.nodes_new == 2


def test_nothing_is_said_of_nodes_that_are_the_same():
    report = kg.detect_communities(RING, init=kg.WarmStart(CLIQUES)).report
    assert (report.nodes_new, report.nodes_vanished) == (0, 0)
    assert not any("vanished" in line for line in report.lines())


def test_labels_of_a_matrix_belong_to_rows_of_the_same_number():
    before = nx.to_numpy_array(RING)
    after = nx.to_numpy_array(nx.disjoint_union(RING, nx.complete_graph(4)))
    start = kg.detect_communities(before)
    found = kg.detect_communities(after, init=kg.WarmStart(start))
    assert sorted(map(len, found)) == [4, *[6] * 8]
    assert (found.report.nodes_new, found.report.nodes_vanished) == (4, 0)
    back = kg.detect_communities(before, init=kg.WarmStart(found))
    assert back == start
    assert (back.report.nodes_new, back.report.nodes_vanished) == (0, 4)


@pytest.mark.parametrize("start", [[{"a", "b"}, {"c"}], {"a": 1, "b": 2}, [["a"], [["b"]]], {}])
def test_labels_must_share_nodes_with_the_graph(start):
    with pytest.raises(PartitionError, match="labels to start from must share nodes with the"):
        kg.detect_communities(RING, init=kg.WarmStart(start))


def test_labels_without_names_must_be_one_per_node():
    with pytest.raises(PartitionError, match="one entry per node of the graph: 48 expected, got 3"):
        kg.detect_communities(RING, init=kg.WarmStart([0, 0, 1]))


def test_labels_must_hold_each_node_once():
    with pytest.raises(PartitionError, match=r"each node once, got node 0 more than once"):
        kg.detect_communities(RING, init=kg.WarmStart([{0, 1}, {0, 2}]))


@given(
    st.lists(st.integers(0, 9), unique=True, max_size=8),
    st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_labels_are_carried_over_by_name(before, after, random):
    start = {name: random.choice("ab") for name in before}
    graph = kg.Graph.from_edges([], [], nodes=after)
    if not set(before) & set(after):
        with pytest.raises(PartitionError, match="must share nodes"):
            as_shared_labels(start, graph)
        return
    labels, new, vanished = as_shared_labels(start, graph)
    assert (new, vanished) == (len({*after} - {*before}), len({*before} - {*after}))
    for i, j in itertools.combinations(range(len(after)), 2):
        one, other = start.get(after[i], after[i]), start.get(after[j], after[j])
        assert (labels[i] == labels[j]) == (one == other)


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


def test_a_vanished_node_in_two_sets_is_refused():
    with pytest.raises(PartitionError, match="each node once, got node 'gone' more than once"):
        kg.detect_communities(nx.path_graph(4), init=kg.WarmStart([{0, 1, "gone"}, {2, 3, "gone"}]))
