"""Graphs with given degrees: degree-corrected blocks, LFR, the configuration model."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import GraphError, InputError
from kgroups.generators import (
    PlantedAffinity,
    PowerLaw,
    configuration_model,
    degree_corrected_sbm,
    lfr_benchmark,
    stochastic_block_model,
)
from kgroups.generators.lfr import DiscretePowerLaw, _assigned_communities, _community_sizes
from kgroups.generators.rewiring import simple_pairing


def assert_simple(graph):
    G = graph.to_networkx()
    assert nx.number_of_selfloops(G) == 0
    assert graph.multiplicity is None
    assert G.number_of_edges() == graph.m == len(graph.indices) // 2


class TestDegreeCorrected:
    def test_nodes_of_propensity_zero_have_no_edges(self):
        theta = np.tile([0.0, 1.0], 50)
        graph, labels = degree_corrected_sbm([40, 60], np.full((2, 2), 0.2), theta, rng=0)
        assert_simple(graph)
        assert not graph.degrees[::2].any()
        assert graph.degrees[1::2].all()
        assert np.bincount(labels).tolist() == [40, 60]

    def test_affinity_and_power_law_are_defaults_that_fit(self):
        planted = degree_corrected_sbm([50, 50], PlantedAffinity(6, 1.5), rng=1)
        again = degree_corrected_sbm([50, 50], PlantedAffinity(6, 1.5), PowerLaw(), rng=1)
        assert np.array_equal(planted.graph.indices, again.graph.indices)
        assert planted.entropy == 1

    def test_empty_blocks_do_no_harm(self):
        graph, _ = degree_corrected_sbm([0, 30], np.full((2, 2), 0.3), rng=1)
        assert_simple(graph)

    @pytest.mark.parametrize(
        ("theta", "message"),
        [
            ([1.0, 2.0], r"one number for each of the 4 nodes, got \(2,\)"),
            ([1.0, -1.0, 1, 1], "finite and >= 0, got -1 for node 1"),
            ([1.0, 1.0, np.nan, 1], "finite and >= 0, got nan for node 2"),
            ([1.0, 1.0, 0, 0], r"must not all be 0 in a block, got none above 0 in block 1"),
            ("steep", "must be a PowerLaw or one number per node, got 'steep'"),
        ],
    )
    def test_bad_propensities_are_refused(self, theta, message):
        with pytest.raises(InputError, match=message):
            degree_corrected_sbm([2, 2], np.full((2, 2), 0.1), theta, rng=0)

    @pytest.mark.parametrize("scale", [1e308, 5e-324])
    def test_the_scale_of_propensities_does_not_matter(self, scale):
        theta, P = np.ones(40), np.full((2, 2), 0.2)
        graph, _ = degree_corrected_sbm([20, 20], P, scale * theta, rng=0)
        expected, _ = degree_corrected_sbm([20, 20], P, theta, rng=0)
        assert graph.m > 0
        assert np.array_equal(graph.indices, expected.indices)

    def test_power_laws_up_to_the_largest_float(self):
        law = PowerLaw(exponent=0.0, ratio=1.7e308)
        assert_simple(degree_corrected_sbm([50, 50], np.full((2, 2), 0.1), law, rng=0).graph)

    def test_certain_edges_are_refused(self):
        with pytest.raises(InputError, match=r"P must be below 1 .*, got 1 for blocks 1 and 1"):
            degree_corrected_sbm([2, 2], [[0.5, 0], [0, 1]], rng=0)

    def test_power_law_is_checked(self):
        with pytest.raises(InputError, match=r"ratio must be a number >= 1, got 0\.5"):
            PowerLaw(ratio=0.5)
        with pytest.raises(InputError, match="exponent must be a number from 0 to 20, got inf"):
            PowerLaw(exponent=np.inf)
        with pytest.raises(InputError, match="exponent must be a number from 0 to 20, got 21"):
            PowerLaw(exponent=21)

    @pytest.mark.parametrize("exponent", [0.0, 1.0, 1.0 + 1e-12, 20.0])
    def test_power_law_stays_in_its_range(self, exponent):
        drawn = PowerLaw(exponent, 1e6).draw(1000, np.random.default_rng(0))
        assert np.isfinite(drawn).all()
        assert drawn.min() >= 1
        assert drawn.max() <= 1e6 * (1 + 1e-9)


class TestLFR:
    @pytest.mark.parametrize("internal", ["fixed", "binomial"])
    @pytest.mark.parametrize("mixing", [0.0, 0.3, 1.0])
    def test_graph_is_simple_and_sizes_fit(self, internal, mixing):
        planted = lfr_benchmark(
            600, degree=8, mixing=mixing, min_community=15, internal=internal, rng=3
        )
        assert_simple(planted.graph)
        sizes = np.bincount(planted.labels)
        assert sizes.min() >= 15
        assert sizes.max() <= 375
        assert planted.unplaced_edges == 0
        u, v, _ = planted.graph.edges()
        outside = np.mean(planted.labels[u] != planted.labels[v])
        assert outside == pytest.approx(mixing, abs=0.0 if mixing in (0.0, 1.0) else 0.03)

    def test_fixed_mixing_holds_at_each_node(self):
        graph, labels = lfr_benchmark(2000, degree=20, mixing=0.4, max_degree=50, rng=0)
        same = labels[graph.row_of_slot] == labels[graph.indices]
        inside = np.bincount(graph.row_of_slot[same], minlength=graph.n)
        off = np.abs(inside - 0.6 * graph.degrees)
        # A stub may be turned to make a community even, or find no place inside.
        assert np.mean(off < 1) > 0.95
        assert off.max() < 4

    def test_dense_communities_are_filled(self):
        planted = lfr_benchmark(
            400, degree=18, max_degree=19, mixing=0.0, min_community=20, max_community=25, rng=0
        )
        assert_simple(planted.graph)
        assert planted.graph.degrees.mean() > 17.5

    def test_edges_without_a_place_are_counted_or_refused(self):
        tight = {"max_degree": 19, "degree_exponent": 1, "min_community": 20, "max_community": 20}
        planted = lfr_benchmark(500, degree=10, mixing=0, **tight, rng=0)
        assert 0 < planted.unplaced_edges <= 0.01 * planted.graph.m
        assert f"25 groups, {planted.unplaced_edges} unplaced edges, entropy=0" in repr(planted)
        message = r"between 25 communities must find places, but \d+ of \d+ did not\.\n  Use larger"
        with pytest.raises(InputError, match=message):
            lfr_benchmark(500, degree=6, mixing=0, **tight, rng=0)

    def test_one_seed_is_one_graph(self):
        first, again, other = (lfr_benchmark(500, degree=10, mixing=0.2, rng=s) for s in (1, 1, 2))
        assert np.array_equal(first.graph.indices, again.graph.indices)
        assert np.array_equal(first.labels, again.labels)
        assert not np.array_equal(first.labels, other.labels)
        assert first.entropy == 1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"mixing": 1.5}, r"mixing must be a number from 0 to 1, got 1\.5"),
            ({"n": 0}, "n must be a whole number >= 1, got 0"),
            ({"degree_exponent": -1}, "degree_exponent must be a number from 0 to 20, got -1"),
            ({"community_exponent": 21}, "community_exponent must be a number from 0 to 20"),
            ({"max_degree": 500}, "below the number of nodes 500, got 500"),
            ({"max_degree": 8}, "degree must lie between .* and 8 for max_degree=8 .* got 10"),
            ({"degree": 1.01}, "degree must lie between"),
            ({"min_community": 0}, "min_community must be a whole number >= 1, got 0"),
            ({"min_community": 30, "max_community": 20}, "got 30, 20 and 500"),
            ({"max_community": 501}, "got 20, 501 and 500"),
            (
                {"min_community": 300, "max_community": 400},
                "500 nodes cannot be split into communities of 300 to 400 nodes",
            ),
            ({"internal": "loose"}, "internal must be one of 'fixed', 'binomial', got 'loose'"),
            (
                {"max_degree": 60, "max_community": 30, "mixing": 0.1},
                r"larger than its internal degree, .* communities up to 30 nodes\.\n  Raise",
            ),
            (
                {"min_community": 500, "max_community": 500},
                r"must end in others, .* the largest of 1 had 500 of 500 nodes\.\n  Lower",
            ),
        ],
    )
    def test_impossible_graphs_are_refused(self, change, message):
        arguments = {"n": 500, "degree": 10, "mixing": 0.3, **change}
        with pytest.raises(InputError, match=message):
            lfr_benchmark(arguments.pop("n"), **arguments, rng=0)

    @pytest.mark.parametrize(("n", "low", "high"), [(100, 10, 10), (101, 10, 11), (1000, 7, 300)])
    def test_community_sizes_sum_to_n_within_their_bounds(self, n, low, high):
        law = DiscretePowerLaw.between(low, high, 1.5)
        for seed in range(20):
            sizes = _community_sizes(law, n, np.random.default_rng(seed))
            assert sizes.sum() == n
            assert low <= sizes.min() <= sizes.max() <= high

    def test_nodes_that_do_not_fit_are_noticed(self):
        rng = np.random.default_rng(0)
        assert _assigned_communities(np.array([3, 3, 3, 3, 3, 0, 0]), np.array([4, 3]), rng) is None
        labels = _assigned_communities(np.array([0, 3, 3, 0, 3, 3, 0]), np.array([3, 4]), rng)
        assert labels.tolist() == [0, 1, 1, 0, 1, 1, 0]

    @pytest.mark.parametrize("mean", [1.8, 5.0, 5.01, 17.3, 49.9, 50.0])
    def test_power_law_has_the_mean_asked_for(self, mean):
        law = DiscretePowerLaw.of_mean(mean, 50, 2.5)
        values = law.low + np.arange(law.probabilities.size)
        assert values @ law.probabilities == pytest.approx(mean, rel=1e-12)
        assert law.probabilities.min() >= 0
        assert law.low + law.probabilities.size - 1 == 50
        ratios = law.probabilities[2:] / law.probabilities[1:-1]
        x = np.arange(law.low + 1, 51)
        assert ratios == pytest.approx((x[1:] / x[:-1]) ** -2.5)


class TestPairing:
    def test_all_stubs_are_paired_where_that_is_possible(self):
        rng = np.random.default_rng(0)
        degrees = rng.integers(1, 8, size=200)
        pool = np.arange(200) % 4
        for a in range(4):
            degrees[a] += degrees[pool == a].sum() % 2
        u, v = simple_pairing(degrees, pool, rng)
        assert np.array_equal(np.bincount(np.concatenate([u, v]), minlength=200), degrees)
        assert np.array_equal(pool[u], pool[v])
        assert np.all(u != v)
        assert len({frozenset(pair) for pair in zip(u.tolist(), v.tolist(), strict=True)}) == u.size

    def test_nodes_to_keep_apart_are_not_paired(self):
        kind = np.arange(100) % 3
        u, v = simple_pairing(
            np.full(100, 6), np.zeros(100, int), np.random.default_rng(1), apart=kind
        )
        assert u.size == 300
        assert np.all(kind[u] != kind[v])

    def test_pairs_without_a_place_are_left_out(self):
        u, v = simple_pairing(np.array([2, 2]), np.zeros(2, int), np.random.default_rng(0))
        assert (u.size, v.size) == (1, 1)
        assert u[0] != v[0]

    def test_no_stubs_make_no_pairs(self):
        u, v = simple_pairing(np.zeros(5, int), np.zeros(5, int), np.random.default_rng(0))
        assert (u.size, v.size) == (0, 0)


class TestConfigurationModel:
    @pytest.mark.parametrize("G", [nx.karate_club_graph(), nx.les_miserables_graph()])
    def test_degrees_names_and_weights_are_kept(self, G):
        given, null = kg.as_graph(G), configuration_model(G, rng=0)
        assert null.nodes == given.nodes
        assert np.array_equal(np.diff(null.indptr), np.diff(given.indptr))
        assert np.array_equal(np.sort(null.edges()[2]), np.sort(given.edges()[2]))
        assert not np.array_equal(null.indices, given.indices)
        assert null.n_loops == 0
        assert null.multiplicity is None

    def test_no_swaps_change_nothing(self):
        G = nx.karate_club_graph()
        null = configuration_model(G, swaps_per_edge=0, rng=0)
        assert (null.to_scipy() != kg.as_graph(G).to_scipy()).nnz == 0

    @pytest.mark.parametrize(
        "G", [nx.empty_graph(3), nx.path_graph(2), nx.star_graph(5), nx.complete_graph(6)]
    )
    def test_graphs_that_cannot_change_stay(self, G):
        null = configuration_model(G, rng=0)
        assert nx.utils.graphs_equal(null.to_networkx(), nx.Graph(G))

    def test_one_seed_is_one_graph(self):
        graph, _ = stochastic_block_model([50], [[0.2]], rng=0)
        first, again, other = (configuration_model(graph, rng=seed) for seed in (1, 1, 2))
        assert np.array_equal(first.indices, again.indices)
        assert not np.array_equal(first.indices, other.indices)

    def test_without_a_seed_the_entropy_is_fresh(self):
        first, other = (configuration_model(nx.karate_club_graph()) for _ in range(2))
        assert not np.array_equal(first.indices, other.indices)

    def test_graphs_that_are_not_simple_are_refused(self):
        with pytest.raises(GraphError, match="got a graph with 1 self-loops"):
            configuration_model(nx.Graph([(0, 1), (1, 1)]), rng=0)
        with pytest.raises(GraphError, match=r'with parallel edges\.\n.*symmetrize="union"'):
            configuration_model(nx.MultiGraph([(0, 1), (0, 1)]), rng=0)
        with pytest.raises(InputError, match="swaps_per_edge must be a number >= 0, got -1"):
            configuration_model(nx.path_graph(3), swaps_per_edge=-1, rng=0)
