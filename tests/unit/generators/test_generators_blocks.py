"""Block models and planted partitions: what is drawn, what is refused."""

import itertools
import pickle
import re
import tracemalloc

import numpy as np
import pytest

from kgroups.errors import InputError
from kgroups.generators import (
    Planted,
    PlantedAffinity,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    lfr_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.blocks import BlockPairs, Blocks, draw_pairs


def dense(graph):
    return graph.to_scipy().toarray()


def assert_simple(graph):
    A = dense(graph)
    assert np.array_equal(A, A.T)
    assert not A.diagonal().any()
    assert set(np.unique(A)) <= {0.0, 1.0}
    assert all(
        np.all(np.diff(graph.indices[start:end]) > 0)
        for start, end in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    )


def test_certain_and_impossible_edges_are_exact():
    graph, labels = stochastic_block_model([3, 2, 4], [[1, 0, 0], [0, 0, 1], [0, 1, 0]], rng=0)
    same = np.equal.outer(labels, labels)
    expected = (same & (labels == 0)[:, None]) | (np.add.outer(labels, labels) == 3) & ~same
    expected &= ~np.eye(9, dtype=bool)
    expected &= ~(np.equal.outer(labels, np.zeros(9)) & ~same)
    assert np.array_equal(dense(graph), expected.astype(float))
    assert labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("p", [0.05, 0.24, 0.26, 0.9])
def test_blocks_of_every_density_are_simple(p):
    graph, labels = stochastic_block_model([20, 1, 0, 13], np.full((4, 4), p), rng=3)
    assert_simple(graph)
    assert np.bincount(labels, minlength=4).tolist() == [20, 1, 0, 13]


@pytest.mark.parametrize("P", [np.ones((2, 2)), np.array([[0.5, 0.4], [0.4, 0.9]])])
def test_dense_blocks_are_tested_in_chunks(P):
    blocks, pairs = Blocks(np.array([30, 20])), BlockPairs.of_matrix(P)
    whole = draw_pairs(blocks, pairs, np.random.default_rng(5))
    chunks = draw_pairs(blocks, pairs, np.random.default_rng(5), chunk=7)
    assert np.array_equal(np.stack(chunks), np.stack(whole))
    if P.min() == 1:
        assert sorted(zip(*whole, strict=True)) == list(itertools.combinations(range(50), 2))


def test_no_nodes_and_no_edges():
    graph, labels = stochastic_block_model([0], [[0.5]], rng=0)
    assert (graph.n, graph.m, labels.size) == (0, 0, 0)
    graph, _ = stochastic_block_model([5, 5], np.zeros((2, 2)), rng=0)
    assert (graph.n, graph.m) == (10, 0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: stochastic_block_model([40, 60], [[0.3, 0.1], [0.1, 0.2]], rng=rng),
        lambda rng: planted_partition(200, 4, 5.0, 1.5, rng=rng),
        lambda rng: planted_partition(200, 50, 5.0, 1.5, sizes="multinomial", rng=rng),
        lambda rng: girvan_newman_benchmark(1.5, rng=rng),
    ],
)
def test_one_seed_is_one_graph(draw):
    first, again, other = draw(7), draw(np.random.default_rng(7)), draw(8)
    assert_simple(first.graph)
    assert np.array_equal(first.labels, again.labels)
    assert np.array_equal(first.graph.indices, again.graph.indices)
    assert not np.array_equal(dense(first.graph), dense(other.graph))
    assert (first.entropy, again.entropy, other.entropy) == (7, None, 8)


def test_fresh_entropy_is_recorded_and_repeats_the_graph():
    first, second = (planted_partition(100, 2, 6, 2) for _ in range(2))
    assert first.entropy != second.entropy
    repeated = planted_partition(100, 2, 6, 2, rng=first.entropy)
    assert np.array_equal(repeated.graph.indices, first.graph.indices)
    assert np.array_equal(repeated.labels, first.labels)


def test_planted_unpacks_pickles_and_tells_what_it_is():
    planted = planted_partition(60, 3, 6, 2, rng=2)
    graph, labels = planted
    assert graph is planted.graph
    assert labels is planted.labels
    assert isinstance(planted, tuple)
    assert len(planted) == 2
    copy = pickle.loads(pickle.dumps(planted))
    assert isinstance(copy, Planted)
    assert (copy.entropy, copy.unplaced_edges) == (2, 0)
    assert np.array_equal(copy.labels, labels)
    assert repr(planted) == f"Planted({graph!r}, 3 groups, entropy=2)"
    assert (
        repr(planted._replace(labels=labels % 2)) == f"Planted({graph!r}, 2 groups, entropy=None)"
    )


def test_planted_graphs_go_to_networkx_and_igraph_with_their_groups():
    planted = planted_partition(60, 3, 6, 2, rng=2)
    G, g = planted.to_networkx(), planted.to_igraph()
    assert [G.nodes[i]["community"] for i in range(60)] == planted.labels.tolist()
    assert g.vs["community"] == planted.labels.tolist()
    assert G.number_of_edges() == g.ecount() == planted.graph.m


@pytest.mark.parametrize(("n", "k"), [(100, 7), (50, 20), (9, 9), (10, 1)])
def test_balanced_groups_differ_by_one_node_and_are_mixed(n, k):
    labels = planted_partition(n, k, 2.0, 0.5, beyond="clip", rng=0).labels
    sizes = np.bincount(labels, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == n
    assert k == 1 or np.any(np.diff(labels) < 0)


def test_clipping_at_the_end_of_the_papers_figure():
    affinity = PlantedAffinity(3.0, 2.5, "clip")
    inside, between = affinity.probabilities(1000, 5)
    assert between == 0.0
    assert inside == pytest.approx((3 + 2.5 * 4 * np.sqrt(3)) / 1000)
    graph, labels = planted_partition(1000, 5, 3.0, 2.5, beyond="clip", rng=0)
    u, v, _ = graph.edges()
    assert np.array_equal(labels[u], labels[v])


def test_the_largest_and_smallest_ratio_are_allowed():
    assert PlantedAffinity(3.0, np.sqrt(3.0)).probabilities(1000, 5)[1] == pytest.approx(0.0)
    assert PlantedAffinity(3.0, -np.sqrt(3.0) / 4).probabilities(1000, 5)[0] == pytest.approx(0.0)
    assert PlantedAffinity(0.0, 1.0).probabilities(10, 2) == (0.0, 0.0)
    assert PlantedAffinity(4.0, 9.0).probabilities(10, 1)[0] == pytest.approx(0.4)


def test_affinity_serves_as_block_matrix():
    affinity = PlantedAffinity(16, 2)
    given, _ = stochastic_block_model([32] * 4, affinity.matrix(128, 4), rng=4)
    named, _ = stochastic_block_model([32] * 4, affinity, rng=4)
    assert np.array_equal(given.indices, named.indices)
    assert np.diag(affinity.matrix(128, 4)).tolist() == [0.3125] * 4


def test_many_groups_take_the_path_without_a_table_of_their_pairs():
    graph, labels = planted_partition(3000, 1000, 4.0, 1.4, rng=0)
    assert_simple(graph)
    assert np.bincount(labels).tolist() == [3] * 1000


@pytest.mark.parametrize("k", [2, 300, 20_000])
def test_memory_is_proportional_to_nodes_and_edges(k):
    planted_partition(100, 2, 5.0, 0.0, rng=0)
    tracemalloc.start()
    graph, _ = planted_partition(20_000, k, 20.0, 0.0, rng=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150 * (graph.n + graph.m)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((100, 2, 4.0, 2.1), r"degree 4 the largest snr is 2, got 2\.1\.\n.*beyond=\"clip\""),
        ((100, 3, 4.0, -1.1), r"the smallest snr is -1, got -1\.1"),
        ((10, 5, 9.0, 1.0), r"the largest snr is 0\.0833333333333333, got 1\."),
        ((10, 2, 4.0, 2.0000001), r"the largest snr is 2, got 2\.0000001\."),
        ((10, 2, 11.0, 0.0), "degree must not exceed the number of nodes, got 11 for 10 nodes"),
        ((10, 11, 2.0, 0.0), "k must not exceed the number of nodes, got k=11 for n=10"),
        ((0, 1, 2.0, 0.0), "n must be a whole number >= 1, got 0"),
        ((10.5, 1, 2.0, 0.0), r"n must be a whole number >= 1, got 10\.5"),
        ((10, True, 2.0, 0.0), "k must be a whole number >= 1, got True"),
        ((10, 2, -2.0, 0.0), "degree must be a number >= 0, got -2"),
        ((10, 2, float("nan"), 0.0), "degree must be a number >= 0, got nan"),
        ((10, 2, 2.0, "high"), "snr must be a finite number, got 'high'"),
        ((10, 2, 2.0, True), "snr must be a finite number, got True"),
    ],
)
def test_planted_partition_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        planted_partition(*arguments, rng=0)


@pytest.mark.parametrize("degree", [2.0, 3.0, 5.0, 6.0, 7.5, 11.0])
def test_the_largest_ratio_that_is_named_can_be_taken(degree):
    with pytest.raises(InputError) as caught:
        planted_partition(100, 2, degree, 9.0, rng=0)
    named = re.search(r"largest snr is ([0-9.]+), got", str(caught.value))
    graph, labels = planted_partition(100, 2, degree, float(named[1]), rng=0)
    u, v, _ = graph.edges()
    assert np.array_equal(labels[u], labels[v])


def test_choices_and_seeds_are_checked():
    with pytest.raises(InputError, match="sizes must be one of 'balanced', 'multinomial', got"):
        planted_partition(10, 2, 2.0, 0.0, sizes="equal", rng=0)
    with pytest.raises(InputError, match="beyond must be one of 'error', 'clip', got 'cut'"):
        planted_partition(10, 2, 2.0, 0.0, beyond="cut", rng=0)
    with pytest.raises(InputError, match="rng must be None, a whole number >= 0"):
        planted_partition(10, 2, 2.0, 0.0, rng=-1)
    with pytest.raises(InputError, match=r"the largest snr is 4, got 4\.5"):
        girvan_newman_benchmark(4.5, rng=0)


@pytest.mark.parametrize(
    ("sizes", "P", "message"),
    [
        (5, [[0.1]], "sizes must list the number of nodes of each block, got 5"),
        ([], [], "sizes must name at least one block, got none"),
        ([3, -1], np.eye(2), r"entry 1 of sizes must be a whole number >= 0, got -1"),
        ([3, 1.5], np.eye(2), r"entry 1 of sizes must be a whole number >= 0, got 1\.5"),
        ([3, 3], [[0.1]], "each of the 2 blocks of sizes, got 1 x 1"),
        ([3], 0.5, "each of the 1 blocks of sizes, got a single number"),
        ([3], [["x"]], "P must be a 1 x 1 matrix of probabilities"),
        ([3, 3], [[0, 1.5], [1.5, 0]], r"from 0 to 1, got 1\.5 for blocks 0 and 1"),
        ([3], [[np.nan]], r"from 0 to 1, got nan for blocks 0 and 0"),
        ([3, 3], [[0, 0.5], [0.25, 0]], r"got 0\.5 for blocks 0 and 1, and 0\.25 for 1 and 0"),
    ],
)
def test_block_model_refuses(sizes, P, message):
    with pytest.raises(InputError, match=message):
        stochastic_block_model(sizes, P, rng=0)


def test_a_drawn_graph_knows_its_probabilities():
    planted = planted_partition(128, 4, 16.0, 2.0, rng=0)
    assert planted.inside.tolist() == [0.3125] * 4
    assert planted.between == 0.0625
    P = [[0.5, 0.1], [0.1, 0.25]]
    for drawn in (stochastic_block_model([5, 5], P, rng=0), degree_corrected_sbm([5, 5], P, rng=0)):
        assert drawn.inside.tolist() == [0.5, 0.25]
        assert drawn.between == 0.1
    assert stochastic_block_model([5], [[0.5]], rng=0).between == 0.0
    P = [[0.5, 0.1, 0.2], [0.1, 0.5, 0.1], [0.2, 0.1, 0.5]]
    drawn = stochastic_block_model([3, 3, 3], P, rng=0)
    assert drawn.inside is drawn.between is None
    assert lfr_benchmark(200, degree=10, mixing=0.2, rng=0).inside is None
