"""Exactly k communities, with every method."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import planted_partition
from kgroups.metrics import nmi

METHODS = (kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered"), kg.Search())
GRAPHS = {
    "path": nx.path_graph(12),
    "star": nx.star_graph(11),
    "cycle": nx.cycle_graph(12),
    "complete": nx.complete_graph(12),
    "bipartite": nx.complete_bipartite_graph(5, 7),
    "octahedron": nx.octahedral_graph(),
    "dense": nx.gnm_random_graph(14, 80, seed=1),
    "karate": nx.karate_club_graph(),
    "no edges": nx.empty_graph(6),
    "parts": nx.disjoint_union_all(
        [nx.complete_graph(7), nx.path_graph(4), nx.cycle_graph(6), nx.empty_graph(3)]
    ),
    "equal parts": nx.disjoint_union_all([nx.ring_of_cliques(3, 5) for _ in range(4)]),
}


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("init", [kg.KMeansInit(), kg.QRInit()], ids=repr)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_k_is_met(name, init, method):
    G = GRAPHS[name]
    for k in {1, 2, 3, len(G) // 2, len(G) - 2, len(G) - 1, len(G)}:
        found = kg.detect_communities(G, k, method=method, init=init, weight=None)
        assert len(found) == k
        assert nx.community.is_partition(G, found)
        assert found.report.k_given == k
        if k == len(G):
            assert all(len(community) == 1 for community in found)


PARTS = nx.disjoint_union_all(
    [nx.ring_of_cliques(6, 6), nx.ring_of_cliques(3, 6), nx.path_graph(5), nx.empty_graph(2)]
)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 9])
def test_only_whole_components_are_uninformed_and_join_the_largest(method, k):
    found = kg.detect_communities(PARTS, k, method=method)
    components = [set(component) for component in nx.connected_components(PARTS)]
    left_out = set(found.uninformed)
    assert len(found) == k
    assert left_out == set().union(*(c for c in components if c & left_out))
    informed = [community - left_out for community in found]
    assert all(informed)
    if left_out:
        # Each informed community lies in one component, and the uninformed joined the largest.
        assert all(any(own <= component for component in components) for own in informed)
        joined = [own for own, whole in zip(informed, found, strict=True) if own != whole]
        assert len(joined) == 1
        assert len(joined[0]) == max(map(len, informed))
    assert found.report.uninformed == len(left_out)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_isolated_nodes_come_last(method):
    """Nine cliques and a path have eigenvalues of their own: isolated nodes have none."""
    found = kg.detect_communities(PARTS, 10, method=method)
    assert {59, 60} <= set(found.uninformed)


@pytest.mark.parametrize("k", [4, 12])
def test_levels_are_found_beside_isolated_nodes(k):
    """Twelve groups in four; the isolated nodes come last, and join the largest community."""
    rates = 0.01 + np.kron(np.eye(4), np.full((3, 3), 0.2)) + 0.6 * np.eye(12)
    graph, truth = kg.generators.stochastic_block_model([20] * 12, rates, rng=0)
    source, target, _ = graph.edges()
    found = kg.detect_communities(kg.Graph.from_edges(source, target, n=245), k)
    assert len(found) == k
    assert set(found.uninformed) == set(range(240, 245))
    assert kg.metrics.ami(truth // (12 // k), found.labels[:240]) > 0.95


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", ["no edges", "equal parts"])
def test_k_equal_to_the_number_of_components(name, method):
    G = GRAPHS[name]
    components = set(map(frozenset, nx.connected_components(G)))
    found = kg.detect_communities(G, len(components), method=method)
    assert len(found) == len(components)
    if name == "no edges":
        assert set(found) == components
        assert found.uninformed == ()


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_planted_cliques_come_out_when_their_number_is_given(method):
    G = nx.ring_of_cliques(8, 6)
    found = kg.detect_communities(G, 8, method=method)
    assert set(found) == {frozenset(range(6 * a, 6 * a + 6)) for a in range(8)}
    assert found.uninformed == ()


@pytest.fixture(scope="module")
def planted():
    return planted_partition(2_000, k=8, degree=14.0, snr=2.6, rng=0)


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS[1:], ids=repr)
def test_methods_agree_when_k_is_given(planted, method):
    """Mean NMI with the planted groups on 8 graphs: .995 (sd .0025) with every method."""
    found = kg.detect_communities(planted.graph, 8, method=method)
    assert len(found) == 8
    assert nmi(planted.labels, found.labels) > 0.98


@pytest.mark.compiled
def test_the_report_says_that_k_was_given(planted):
    for k in (8, 40):
        report = kg.detect_communities(planted.graph, k).report
        assert (report.method, report.why.split(",")[0]) == ("Auto", f"k = {k} was given")
        assert (", and found without" in report.why) == (k == 8)
        assert report.components[0].winner in ("search", "eigenvectors")
        assert report.visits > 0
        several = k - report.n_single
        assert report.about_k().startswith(f"{several} communities")
        assert report.about_k().endswith(", as requested.")


def test_belief_propagation_decides_on_faint_communities_only():
    """With numbers that are not found without."""
    faint, _ = kg.generators.planted_partition(300, 3, 6.0, 1.4, rng=0)
    stages = []
    report = kg.detect_communities(faint, 4, progress=stages.append).report
    assert "belief propagation" in stages
    assert report.why == "k = 4 was given; they are faint, and belief propagation decides"
    stages.clear()
    clear, _ = kg.generators.planted_partition(300, 3, 20.0, 4.0, rng=0)
    report = kg.detect_communities(clear, 2, progress=stages.append).report
    assert report.why.startswith("k = 2 was given")
    assert "belief propagation" not in stages


@pytest.mark.parametrize(("degree", "asked"), [(16.0, True), (48.0, False)])
def test_belief_propagation_is_not_asked_on_dense_graphs(degree, asked):
    """Degrees alone would repeat 6 and 19 % of the links."""
    graph, _ = planted_partition(128, 4, degree, 1.1, rng=0)
    stages = []
    kg.detect_communities(graph, 4, progress=stages.append)
    assert ("belief propagation" in stages) is asked


def test_belief_propagation_is_given_up_where_communities_are_too_many():
    """Issue 26: it took 13 s for 1,000 communities of 3,000 nodes, and left 806 of them."""
    G = nx.watts_strogatz_graph(300, 4, 0.1, seed=0)
    stages = []
    report = kg.detect_communities(G, 100, progress=stages.append).report
    assert "belief propagation" in stages
    assert report.why == "k = 100 was given"


def test_belief_propagation_takes_weights_as_repeated_links():
    graph, _ = planted_partition(128, 4, 48.0, 1.1, rng=0)
    u, v, _ = graph.edges()
    weights = np.random.default_rng(0).integers(1, 4, u.size)
    stages = []
    kg.detect_communities(kg.Graph.from_edges(u, v, weights, n=128), 4, progress=stages.append)
    assert "belief propagation" in stages


WINNERS = {
    kg.Spectral("exact"): "eigenvectors",
    kg.Spectral("filtered"): "eigenvectors",
    kg.Search(): "search",
}


@pytest.mark.compiled
@pytest.mark.parametrize("method", WINNERS, ids=repr)
def test_a_method_asks_for_what_it_says(planted, method):
    report = kg.detect_communities(planted.graph, 8, method=method).report
    assert report.components[0].winner == WINNERS[method]


@pytest.mark.compiled
def test_a_chosen_first_labeling_asks_for_eigenvectors_alone(planted):
    told = []
    found = kg.detect_communities(planted.graph, 8, refine=None, progress=told.append)
    assert found.report.components[0].winner == "eigenvectors"
    assert "merging groups step by step" not in told


@pytest.mark.compiled
def test_work_is_counted_once(planted):
    method = kg.Spectral("filtered")
    report = kg.detect_communities(planted.graph, 8, method=method).report
    without = kg.detect_communities(planted.graph, 8, method=method, refine=None).report
    assert report.refinement.visits > 0
    assert report.visits == without.visits + report.refinement.visits


@pytest.mark.compiled
def test_large_and_small_components_share_k(planted):
    """The moments know the eight groups to a few, so the six cliques beside get some of 14."""
    u, v, _ = planted.graph.edges()
    ring = np.array(nx.ring_of_cliques(6, 8).edges) + 2_000
    graph = kg.Graph.from_edges(np.append(u, ring[:, 0]), np.append(v, ring[:, 1]), n=2_048)
    found = kg.detect_communities(graph, 14)
    in_ring = {found.membership[node] for node in range(2_000, 2_048)}
    beside = {found.membership[node] for node in range(2_000)}
    assert len(found) == 14
    assert in_ring.isdisjoint(beside)
    assert 2 <= len(in_ring) <= 6
    assert found.uninformed == ()
