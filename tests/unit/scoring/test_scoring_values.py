"""Scores by hand, on graphs too small for a definition, and of every kind of input."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kgroups import Partition, as_graph, scoring
from kgroups.errors import DirectedGraphError, InputError, PartitionError, WeightError
from kgroups.graph import Graph

TRIANGLES = ([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5])
HALVES = [{0, 1, 2}, {3, 4, 5}]


@pytest.fixture
def triangles():
    """Two triangles with a bridge."""
    return Graph.from_edges(*TRIANGLES)


def test_two_triangles_by_hand(triangles):
    assert scoring.coverage(triangles, HALVES) == 6 / 7
    assert scoring.performance(triangles, HALVES) == 14 / 15
    assert scoring.modularity(triangles, HALVES) == pytest.approx(6 / 7 - 1 / 2, abs=1e-15)
    assert scoring.modularity(triangles, HALVES, resolution=2) == pytest.approx(
        6 / 7 - 1, abs=1e-15
    )
    assert scoring.cut_size(triangles, HALVES) == 1.0
    assert scoring.conductance(triangles, HALVES).tolist() == [1 / 7, 1 / 7]


@pytest.mark.parametrize(
    "partition",
    [
        HALVES,
        [0, 0, 0, 1, 1, 1],
        np.array(["x", "x", "x", "y", "y", "y"]),
        dict(enumerate([5, 5, 5, 2, 2, 2])),
        (frozenset(block) for block in HALVES),
    ],
)
def test_any_partition(triangles, partition):
    assert scoring.scores(triangles, partition).modularity == pytest.approx(5 / 14, abs=1e-15)


def test_a_partition_keeps_its_order_of_communities():
    graph = as_graph(nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]))
    partition = Partition([1, 0, 0, 0], graph=graph)
    assert scoring.conductance(graph, partition).tolist() == [1.0, 1.0]
    assert partition.scores() == scoring.scores(graph, [{"b", "c", "d"}, {"a"}])
    shuffled = Partition([0, 0, 1, 0], nodes=["d", "c", "a", "b"])
    assert scoring.scores(graph, shuffled) == partition.scores()


def dense(u, v):
    A = np.zeros((6, 6))
    A[u, v] = A[v, u] = 1
    return A


@pytest.mark.parametrize(
    "graph",
    [
        nx.Graph(zip(*TRIANGLES, strict=True)),
        dense(*TRIANGLES),
        sparse.csr_array(dense(*TRIANGLES)),
        sparse.coo_matrix(dense(*TRIANGLES)),
        tuple(map(np.array, TRIANGLES)),
        pd.DataFrame({"source": TRIANGLES[0], "target": TRIANGLES[1]}),
    ],
)
def test_any_graph(graph, triangles):
    assert scoring.scores(graph, HALVES) == scoring.scores(triangles, HALVES)


def test_self_loops_count_in_coverage_and_are_no_pairs_in_performance():
    graph = nx.Graph([(0, 1), (1, 2), (2, 2), (0, 0)])
    blocks = [{0, 1}, {2}]
    coverage, performance = nx.community.partition_quality(graph, blocks)
    assert scoring.coverage(graph, blocks) == coverage == 3 / 4
    assert performance == 4 / 3
    assert scoring.performance(graph, blocks) == scoring.scores(graph, blocks).performance == 2 / 3
    assert scoring.conductance(graph, blocks).tolist() == [1 / 3, 1 / 3]


def test_duplicate_edges_and_loops_do_not_raise_performance_above_1():
    graph = Graph.from_edges([0, 0, 0, 2], [1, 1, 2, 2])
    assert scoring.performance(graph, [0, 0, 0]) == 2 / 3
    assert scoring.performance(Graph.from_edges([0, 0, 0, 1], [1, 1, 0, 1]), [0, 0]) == 1.0


def test_parallel_edges_count_each_in_coverage_and_once_in_performance():
    graph = nx.MultiGraph([(0, 1), (0, 1), (0, 1), (1, 2)])
    blocks = [{0, 1}, {2}]
    assert scoring.coverage(graph, blocks) == 3 / 4
    assert scoring.performance(graph, blocks) == 2 / 3
    assert scoring.cut_size(graph, blocks) == 1.0
    assert scoring.cut_size(graph, [{0}, {1, 2}]) == 3.0


def test_weights_count_in_modularity_and_not_in_coverage():
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 8.0), (1, 2, 2.0), (2, 3, 0.0)])
    blocks = [{0, 1}, {2, 3}]
    assert scoring.coverage(graph, blocks) == 2 / 3
    assert scoring.coverage(graph, blocks, weight="weight") == 8 / 10
    assert scoring.cut_size(graph, blocks) == 2.0
    assert scoring.cut_size(graph, blocks, weight=None) == 1.0
    assert scoring.modularity(graph, blocks) != scoring.modularity(graph, blocks, weight=None)


def test_a_weighted_graph_object_counts_edges_where_weights_do_not_matter():
    graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 3], [8.0, 2.0, 0.5, 0.25])
    assert scoring.coverage(graph, [0, 0, 1, 1]) == 3 / 4
    assert scoring.performance(graph, [0, 0, 1, 1]) == 5 / 6
    assert scoring.cut_size(graph, [0, 0, 1, 1], weight=None) == 1.0


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("together", [True, False])
def test_graphs_without_edges(n, together):
    labels = np.zeros(n, int) if together else np.arange(n)
    result = scoring.scores(nx.empty_graph(n), labels)
    judged_wrongly = together and n > 1
    assert result == scoring.Scores(
        k=min(n, 1) if together else n,
        performance=0.0 if judged_wrongly else 1.0,
        coverage=1.0,
        modularity=0.0,
        cut_size=0.0,
        max_conductance=0.0,
        mean_conductance=0.0,
        sizes=((n,) if together and n else (1,) * n),
    )


def test_one_node_with_a_loop():
    result = scoring.scores(nx.Graph([("a", "a")]), [{"a"}])
    assert (result.performance, result.coverage, result.modularity) == (1.0, 1.0, 0.0)
    assert result.max_conductance == 0.0


def test_a_graph_whose_weights_are_all_zero():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 0.0, "weight")
    result = scoring.scores(graph, [{0, 1}, {2, 3}])
    assert (result.modularity, result.cut_size, result.max_conductance) == (0.0, 0.0, 0.0)
    assert result.coverage == 2 / 3
    assert scoring.coverage(graph, [{0, 1}, {2, 3}], weight="weight") == 1.0


def test_one_community_of_all():
    result = scoring.scores(nx.complete_graph(5), [set(range(5))])
    assert (result.performance, result.coverage, result.modularity) == (1.0, 1.0, 0.0)
    assert result.max_conductance == 0.0


def test_communities_of_isolated_nodes_have_conductance_zero():
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    assert scoring.conductance(graph, [{0}, {1}, {2}]).tolist() == [1.0, 1.0, 0.0]


def test_conductance_beside_a_huge_volume_keeps_its_digits():
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 1e12), (1, 2, 1e-6), (2, 3, 2e-6)])
    blocks = [{0, 1}, {2, 3}]
    theirs = nx.conductance(graph, blocks[0], weight="weight")
    assert scoring.conductance(graph, blocks) == pytest.approx([theirs, theirs], rel=1e-12)


def test_conductance_is_in_the_order_of_the_labels():
    star = nx.star_graph(3)
    assert scoring.conductance(star, [1, 1, 1, 0]).tolist() == [1.0, 1.0]
    path = nx.path_graph(5)
    assert scoring.conductance(path, [1, 1, 1, 0, 0]).tolist() == [1 / 3, 1 / 3]
    assert scoring.conductance(path, [2, 0, 0, 0, 1]).tolist() == [1.0, 1.0, 1.0]
    assert scoring.conductance(path, [2, 2, 0, 1, 1]).tolist() == [1.0, 1 / 3, 1 / 3]


@pytest.mark.parametrize("seed", range(5))
def test_larger_random_graphs_equal_networkx(seed):
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(300, 2_000, seed=seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.exponential()
    labels = rng.integers(0, 12, 300)
    blocks = [set(np.flatnonzero(labels == a).tolist()) for a in range(12)]
    coverage, performance = nx.community.partition_quality(graph, blocks)
    result = scoring.scores(graph, labels)
    assert result.coverage == pytest.approx(coverage, rel=0, abs=1e-12)
    assert result.performance == pytest.approx(performance, rel=0, abs=1e-12)
    assert result.modularity == pytest.approx(
        nx.community.modularity(graph, blocks), rel=0, abs=1e-12
    )
    expected = [nx.conductance(graph, block, weight="weight") for block in blocks]
    assert scoring.conductance(graph, labels) == pytest.approx(expected, rel=0, abs=1e-12)


DOORS = [
    scoring.performance,
    scoring.coverage,
    scoring.modularity,
    scoring.conductance,
    scoring.cut_size,
    scoring.scores,
]


@pytest.mark.parametrize("score", DOORS)
def test_directed_graphs_need_a_word(score):
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    with pytest.raises(DirectedGraphError, match="symmetrize"):
        score(graph, [{0, 1}, {2}])
    union = score(graph, [{0, 1}, {2}], symmetrize="union")
    assert np.all(union == score(nx.path_graph(3), [{0, 1}, {2}]))


@pytest.mark.parametrize("score", DOORS)
def test_partitions_of_other_nodes_are_named(score):
    with pytest.raises(PartitionError, match="nodes of the graph only, got node 'eve'"):
        score(nx.Graph([("ann", "bob")]), [{"ann", "bob", "eve"}])


@pytest.mark.parametrize(
    "score", [scoring.modularity, scoring.conductance, scoring.cut_size, scoring.scores]
)
def test_a_weight_that_no_edge_has_is_an_error(score):
    with pytest.raises(WeightError, match="got 'strength'"):
        score(nx.path_graph(3), [{0, 1}, {2}], weight="strength")


@pytest.mark.parametrize("score", [scoring.modularity, scoring.scores])
@pytest.mark.parametrize(
    ("resolution", "shown"),
    [(float("nan"), "nan"), (float("inf"), "inf"), ("1", "'1'"), (None, "None"), (True, "True")],
)
def test_resolution_must_be_a_finite_number(score, resolution, shown):
    with pytest.raises(InputError, match=f"resolution must be a finite number, got {shown}"):
        score(nx.path_graph(3), [{0, 1}, {2}], resolution=resolution)


def test_scores_go_into_json(triangles):
    result = scoring.scores(triangles, HALVES).to_dict()
    assert json.loads(json.dumps(result)) == result
    assert list(result) == [
        "k",
        "performance",
        "coverage",
        "modularity",
        "cut_size",
        "max_conductance",
        "mean_conductance",
        "sizes",
    ]
    assert result["sizes"] == [3, 3]


def test_scores_are_frozen(triangles):
    with pytest.raises(AttributeError):
        scoring.scores(triangles, HALVES).modularity = 1.0


def test_public_names():
    assert scoring.__all__ == [
        "Scores",
        "conductance",
        "coverage",
        "cut_size",
        "modularity",
        "performance",
        "scores",
    ]


def test_links_of_communities_with_parallel_edges_and_loops():
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (2, 3), (3, 0)])
    links = scoring.community_links(as_graph(G), np.array([0, 0, 1, 2]))
    assert links.ends.tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2]]
    assert links.weight.tolist() == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert links.edges.tolist() == [2, 1, 1, 1, 1]
    assert links.adjacent.tolist() == [1, 1, 1, 0, 1]
    assert links.between().ends.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_links_of_nothing():
    links = scoring.community_links(Graph.from_edges([], [], n=0), np.zeros(0, int))
    assert links.ends.shape == (0, 2)
    assert links.between().adjacent.shape == (0,)
