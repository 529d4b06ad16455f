import io
import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.cluster import KMeans

import kgroups as kg
from helpers.models import planted_partition
from kgroups.errors import (
    ContinuumWarning,
    ConvergenceWarning,
    CrowdedThresholdWarning,
    DisassortativeWarning,
    InputError,
    KGroupsWarning,
    NumberOfCommunitiesError,
)


def sizes(partition):
    return [len(community) for community in partition]


def test_karate_splits_into_its_two_factions():
    partition = kg.detect_communities(nx.karate_club_graph(), weight=None)
    assert sizes(partition) == [18, 16]
    assert partition.spectrum.k == 2
    assert partition.report.k_found == partition.report.k_hat == 2


@pytest.mark.parametrize(
    ("G", "cliques"),
    [
        (nx.ring_of_cliques(6, 5), 6),
        (nx.ring_of_cliques(20, 5), 20),
        (nx.ring_of_cliques(10, 8), 10),
        (nx.connected_caveman_graph(10, 5), 10),
        (nx.connected_caveman_graph(20, 6), 20),
        (nx.connected_caveman_graph(30, 8), 30),
        (nx.barbell_graph(5, 0), 2),
        (nx.barbell_graph(8, 0), 2),
    ],
)
def test_cliques_come_out_exactly(G, cliques):
    partition = kg.detect_communities(G)
    size = len(G) // cliques
    expected = {frozenset(range(a * size, (a + 1) * size)) for a in range(cliques)}
    assert set(partition) == expected


@pytest.mark.parametrize(("count", "size"), [(3, 5), (4, 6), (6, 8), (10, 5)])
def test_windmill_sails_come_out_and_the_hub_joins_one(count, size):
    partition = kg.detect_communities(nx.windmill_graph(count, size))
    sails = {frozenset(range(1 + a * (size - 1), 1 + (a + 1) * (size - 1))) for a in range(count)}
    assert {community - {0} for community in partition} == sails


@pytest.mark.parametrize("path", [1, 3, 10])
def test_bells_of_a_barbell_are_not_torn(path):
    partition = kg.detect_communities(nx.barbell_graph(8, path))
    left, right = set(range(8)), set(range(8 + path, 16 + path))
    assert any(left <= community for community in partition)
    assert any(right <= community for community in partition)
    assert not any(left | right <= community for community in partition)


def test_splits_below_the_threshold_are_said_in_the_report():
    partition = kg.detect_communities(nx.ring_of_cliques(4, 4))
    assert sizes(partition) == [4, 4, 4, 4]
    assert partition.spectrum.k < 4
    assert partition.report.components[0].winner == "pairs of nodes"
    assert partition.report.about_k() == (
        "4 communities: groups of a few nodes with nearly all pairs linked are described better in "
        "pieces; the spectrum, which can miss small or faint communities, shows 1."
    )


def test_the_shorter_description_wins_where_two_ways_differ():
    """k-means on the eigenvectors cuts a community of 393 nodes."""
    graph = kg.generators.lfr_benchmark(900, degree=15, mixing=0.3, rng=5).graph
    partition, exact = (
        kg.detect_communities(graph, method=method) for method in (kg.Auto(), kg.Spectral("exact"))
    )
    assert partition.report.components[0].winner == "search"
    assert sizes(partition)[0] == 393 > sizes(exact)[0]
    assert (
        "they describe the graph clearly better than one community (" in partition.report.about_k()
    )


def test_two_bridged_triangles_are_two_communities():
    G = nx.Graph(
        [("a", "b"), ("b", "c"), ("a", "c"), ("x", "y"), ("y", "z"), ("x", "z"), ("c", "x")]
    )
    assert set(kg.detect_communities(G)) == {frozenset("abc"), frozenset("xyz")}


def test_components_and_isolated_nodes_are_communities_of_their_own():
    G = nx.disjoint_union_all([nx.karate_club_graph(), nx.path_graph(4), nx.empty_graph(3)])
    partition = kg.detect_communities(G, weight=None)
    assert sizes(partition) == [18, 16, 4, 1, 1, 1]
    assert partition.uninformed == ()
    assert partition.disconnected == ()
    assert partition.report.about_k() == "3 communities and 3 single nodes in 5 components."


def test_k_given_sends_what_has_no_signal_to_the_largest_community():
    G = nx.disjoint_union_all([nx.karate_club_graph(), nx.path_graph(4), nx.empty_graph(3)])
    partition = kg.detect_communities(G, 2, weight=None)
    assert sizes(partition) == [18 + 7, 16]
    assert set(partition.uninformed) == set(range(34, 41))
    assert len(partition.disconnected) == 1


@pytest.mark.parametrize("k", [1, 2, 3, 7, 12])
@pytest.mark.parametrize(
    "G",
    [
        nx.empty_graph(12),
        nx.path_graph(12),
        nx.complete_graph(12),
        nx.star_graph(11),
        nx.disjoint_union_all([nx.complete_graph(3)] * 4),
        nx.gnm_random_graph(12, 18, seed=0),
    ],
)
def test_k_given_is_k_returned(G, k):
    partition = kg.detect_communities(G, k)
    assert len(partition) == k
    assert nx.community.is_partition(G, partition)


def test_isolated_nodes_are_communities_only_when_nothing_else_is_left():
    G = nx.disjoint_union(nx.complete_graph(12), nx.empty_graph(5))
    two = kg.detect_communities(G, 2)
    assert set(two.uninformed) == set(range(12, 17))
    assert len(kg.detect_communities(G, 14)) == 14


def test_faint_communities_are_not_given_up_for_clear_ones_in_another_component():
    graph, truth = planted_partition(900, 4, 12.0, 1.3, np.random.default_rng(0))
    ring = nx.relabel_nodes(nx.ring_of_cliques(80, 4), lambda i: i + 900)
    found = kg.detect_communities(nx.union(graph.to_networkx(), ring))
    assert kg.metrics.ami(truth, found.labels[:900]) > 0.3
    faint, clear = found.report.components
    assert (faint.winner, clear.winner) == ("eigenvectors", "search")
    assert clear.nats > clear.n


@pytest.mark.parametrize("length", [40, 120, 200])
def test_nodes_far_from_the_communities_join_the_nearer_one(length):
    G = nx.barbell_graph(8, length)
    partition = kg.detect_communities(G, 2)
    assert partition.disconnected == ()
    assert sizes(partition) == [8 + length // 2] * 2


@pytest.mark.parametrize("factor", [2.0, 0.3])
def test_equal_weights_are_no_weights(factor):
    for seed in range(8):
        G = nx.planted_partition_graph(4, 20, 0.4, 0.05, seed=seed)
        expected = kg.detect_communities(G)
        nx.set_edge_attributes(G, factor, "weight")
        assert kg.detect_communities(G) == expected


def test_equal_components_and_k_equal_to_their_number():
    G = nx.disjoint_union_all([nx.complete_graph(4)] * 3)
    assert sorted(map(sorted, kg.detect_communities(G, 3))) == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
    ]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(NumberOfCommunitiesError, match="k must be a whole number >= 1 or None"):
        kg.detect_communities(nx.path_graph(4), k)


def test_k_above_n_says_why():
    with pytest.raises(NumberOfCommunitiesError, match="got k=5 for 4 nodes"):
        kg.detect_communities(nx.path_graph(4), 5)


@pytest.mark.parametrize("G", [nx.Graph(), nx.empty_graph(1), nx.empty_graph(4)])
def test_graphs_without_edges_have_defined_answers(G):
    partition = kg.detect_communities(G)
    assert len(partition) == len(G)
    assert partition.spectrum.k == 0


def test_self_loops_are_dropped_and_counted_unless_kept():
    G = nx.karate_club_graph()
    G.add_edges_from([(0, 0), (33, 33)])
    dropped = kg.detect_communities(G, weight=None)
    kept = kg.detect_communities(G, weight=None, self_loops="keep")
    assert dropped.report.loops_dropped == 2
    assert dropped == kg.detect_communities(nx.karate_club_graph(), weight=None)
    assert kept.report.loops_dropped == 0
    assert kept.report.r > dropped.report.r
    assert sizes(kept) == [18, 16]


def test_no_refinement_leaves_the_first_labels():
    G = nx.karate_club_graph()
    partition = kg.detect_communities(G, 3, weight=None, refine=None)
    hessian = kg.BetheHessian().bind(kg.as_graph(G, weight=None).simple_adjacency(), weighted=False)
    _, V = np.linalg.eigh(hessian.normalized_matrix().toarray())
    rows = V[:, -3:] / np.linalg.norm(V[:, -3:], axis=1, keepdims=True)
    expected = KMeans(3, n_init=10, random_state=0).fit(rows).labels_
    assert kg.metrics.ari(expected, partition.labels) == 1.0
    assert partition.report.refinement.components == 0
    assert partition.report.refinement.method == "no refinement"
    assert len(partition) == 3


def test_options_are_recorded():
    partition = kg.detect_communities(
        nx.karate_club_graph(), 2, weight=None, init=kg.QRInit(), method=kg.Spectral("exact"), rng=7
    )
    assert partition.report.init == "QRInit()"
    assert (partition.report.method, partition.report.why) == ("Spectral", "k = 2 was given")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "exact"},
            r"method must be Auto\(\), Search\(\) or Spectral\(\), got 'exact'",
        ),
        ({"self_loops": "ignore"}, "self_loops must be one of 'drop', 'keep'"),
        ({"rng": -1}, "rng must be None, a whole number >= 0 or a numpy Generator"),
        (
            {"init": "kmeans"},
            r"init must be KMeansInit\(\), QRInit\(\) or WarmStart\(partition\), got 'kmeans'",
        ),
        ({"refine": True}, r"refine must be Hartigan\(\), another Refiner, or None, got True"),
        ({"operator": 2.0}, r"operator must be BetheHessian\(\) or another Operator, got 2.0"),
        (
            {"progress": "bar"},
            "progress must be True, False or a callable of the name of a stage, got 'bar'",
        ),
        ({"progress": 1}, "progress must be True, False or a callable"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        kg.detect_communities(nx.karate_club_graph(), **options)


def test_progress_is_called_with_each_stage_as_it_begins():
    stages = []
    kg.detect_communities(nx.karate_club_graph(), progress=stages.append)
    assert stages == [
        "reading the graph",
        "finding communities",
        "searching",
        "comparing candidates",
    ]


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("progress", [False, True])
def test_progress_true_shows_the_stages_on_a_terminal_only(monkeypatch, terminal, progress):
    shown = io.StringIO()
    shown.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", shown)
    kg.detect_communities(nx.karate_club_graph(), progress=progress)
    assert ("reading the graph" in shown.getvalue()) == (terminal and progress)


def test_eigenvalues_are_counted_once_in_a_connected_graph(monkeypatch):
    from kgroups.search import arbiter, candidates

    calls, original = [], arbiter.count_components
    for module in (arbiter, candidates):
        monkeypatch.setattr(
            module, "count_components", lambda *args: calls.append(1) or original(*args)
        )
    assert kg.detect_communities(nx.karate_club_graph(), weight=None).report.k_hat == 2
    assert calls == [1]
    two = nx.disjoint_union(nx.karate_club_graph(), nx.ring_of_cliques(8, 4))
    expected = kg.estimate_k(two, weight=None).k
    assert (
        kg.detect_communities(two, weight=None, method=kg.Spectral("exact")).report.k_hat
        == expected
    )


def test_warnings_are_issued_once_at_the_line_of_the_caller():
    grid = nx.grid_2d_graph(15, 16)
    with pytest.warns(KGroupsWarning) as issued:
        partition = kg.detect_communities(grid)
    kinds = [CrowdedThresholdWarning, DisassortativeWarning, ContinuumWarning]
    assert [type(one.message) for one in issued] == kinds
    assert tuple(one.message for one in issued) == partition.report.warnings
    assert {Path(one.filename).name for one in issued} == {"test_detect.py"}
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        assert len(partition.spectrum.warnings) == 2
    assert again == []


def test_the_spectrum_issues_what_detection_did_not_see():
    partition = kg.detect_communities(nx.grid_2d_graph(30, 30))
    assert [type(one) for one in partition.report.warnings] == [ContinuumWarning]
    with pytest.warns(CrowdedThresholdWarning, match="spectrum shows, 37, is uncertain") as issued:
        spectrum = partition.spectrum
    assert tuple(one.message for one in issued) == spectrum.warnings
    assert {Path(one.filename).name for one in issued} == {"test_detect.py"}


def test_estimate_k_issues_the_warnings_of_the_spectrum():
    with pytest.warns(KGroupsWarning) as issued:
        spectrum = kg.estimate_k(nx.grid_2d_graph(30, 30))
    assert tuple(one.message for one in issued) == spectrum.warnings
    assert {Path(one.filename).name for one in issued} == {"test_detect.py"}


def test_a_refinement_that_does_not_converge_is_a_warning():
    rng = np.random.default_rng(0)
    start = rng.integers(0, 4, 200)
    G = nx.gnm_random_graph(200, 1000, seed=1)
    with pytest.warns(ConvergenceWarning, match=r"max_sweeps=1.*\n  Raise max_sweeps") as issued:
        refined = kg.refine_partition(G, start, refine=kg.Hartigan(max_sweeps=1))
    assert refined.report.warnings == tuple(one.message for one in issued)
    assert not refined.report.refinement.converged


def test_refining_a_partition_keeps_its_number_of_communities():
    G = nx.karate_club_graph()
    start = {node: node % 3 for node in G}
    refined = kg.refine_partition(G, start, weight=None)
    assert len(refined) == 3
    assert refined.report.refinement.components == 1
    again = kg.refine_partition(G, refined, weight=None)
    assert again == refined


@pytest.mark.parametrize("start", [[{0, 1, 2}, set(range(3, 10))], [0] * 3 + [1] * 7])
def test_refining_starts_from_any_form_of_partition(start):
    refined = kg.refine_partition(nx.barbell_graph(5, 0), start)
    assert set(refined) == {frozenset(range(5)), frozenset(range(5, 10))}


def test_refining_needs_a_method():
    with pytest.raises(
        InputError, match=r"refine must be Hartigan\(\) or another Refiner to refine"
    ):
        kg.refine_partition(nx.path_graph(3), [0, 0, 1], refine=None)


def test_the_report_of_a_refined_partition_counts_no_eigenvalues():
    report = kg.refine_partition(nx.barbell_graph(5, 0), [0] * 5 + [1] * 5).report
    assert report.k_hat is None
    assert report.about_k() == "2 communities, as many as in the labels given."
    assert not any("eigenvalue" in line for line in report.lines())


def test_refining_nothing_is_nothing():
    assert len(kg.refine_partition(nx.Graph(), [])) == 0


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_alone_hold_the_communities_are_used(seed):
    rng = np.random.default_rng(seed)
    G = nx.gnm_random_graph(150, 2250, seed=seed)
    for u, v, data in G.edges(data=True):
        data["weight"] = rng.gamma(4.0) * (3.0 if u % 3 == v % 3 else 1.0)
    truth = [node % 3 for node in G]
    weighted = kg.metrics.overlap(truth, kg.detect_communities(G, 3).labels)
    unweighted = kg.metrics.overlap(truth, kg.detect_communities(G, 3, weight=None).labels)
    assert weighted >= unweighted + 0.1


@pytest.mark.parametrize("factor", [1e-6, 1000.0])
def test_the_unit_of_the_weights_does_not_matter(factor):
    rng = np.random.default_rng(1)
    G = nx.les_miserables_graph()
    H = nx.gnm_random_graph(100, 500, seed=2)
    for _, _, data in H.edges(data=True):
        data["weight"] = rng.gamma(1.0)
    for graph in (G, H):
        scaled = graph.copy()
        for _, _, data in scaled.edges(data=True):
            data["weight"] *= factor
        assert kg.detect_communities(scaled) == kg.detect_communities(graph)
        assert kg.detect_communities(scaled, 4) == kg.detect_communities(graph, 4)


def test_a_heavy_edge_on_a_tree_makes_no_community():
    G = nx.balanced_tree(2, 5)
    nx.set_edge_attributes(G, 1.0, "weight")
    G[0][1]["weight"] = 1000.0
    partition = kg.detect_communities(G)
    assert len(partition) == 1
    assert partition.spectrum.k == 0


@pytest.mark.compiled
def test_the_exact_method_ends_near_the_detectability_threshold():
    """Counting did not end on this graph, where an eigenvalue is 3e-4 above the threshold."""
    graph = kg.generators.planted_partition(3100, k=8, degree=13, snr=1.1, rng=1).graph
    report = kg.detect_communities(graph, method=kg.Spectral("exact")).report
    assert report.k_hat == report.k_hat_low == report.k_hat_high == 5
