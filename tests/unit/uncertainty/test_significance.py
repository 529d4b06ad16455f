"""The verdict on a graph: p-values, invariance, sentences, and what is refused."""

import json
import re
import warnings

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.oracles_verdict import graphs_with_degrees, second_eigenvalue
from kgroups.errors import InputError, KGroupsWarning
from kgroups.generators import planted_partition

KITE = nx.Graph([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)])


@pytest.mark.parametrize("more", [[(2, 5)], [(2, 5), (0, 6), (1, 5)]])
def test_p_is_the_share_of_all_graphs_with_these_degrees(more):
    G = nx.Graph([*KITE.edges, *more])
    A = nx.to_numpy_array(G, nodelist=sorted(G))
    own = second_eigenvalue(A)
    values = [second_eigenvalue(B) for B in graphs_with_degrees(A.sum(axis=0).astype(int))]
    exact = np.mean(np.array(values) >= own - 1e-8)
    assert 0.0 < exact < 0.5
    verdict = kg.significance(G, nulls=399)
    assert verdict.eigenvalue == pytest.approx(own, abs=1e-8)
    assert verdict.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 399) + 1 / 400)


def test_processes_do_not_change_the_verdict():
    G = nx.karate_club_graph()
    one = kg.significance(G, nulls=19, rng=5, n_jobs=1)
    assert kg.significance(G, nulls=19, rng=5, n_jobs=2) == one
    assert kg.significance(G, nulls=19, rng=6, n_jobs=1) != one


def test_more_nulls_continue_the_same_stream():
    G = nx.karate_club_graph()
    few, many = (kg.significance(G, nulls=count).null_eigenvalues for count in (19, 25))
    assert many[:19] == few


def test_the_order_of_nodes_and_edges_does_not_matter():
    G = nx.karate_club_graph()
    edges = list(G.edges)
    np.random.default_rng(0).shuffle(edges)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(list(G)))
    shuffled.add_edges_from((v, u) for u, v in edges)
    assert kg.significance(shuffled, nulls=19) == kg.significance(G, nulls=19, weight=None)


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_of_equal_communities_do_not_matter(seed):
    G = nx.relaxed_caveman_graph(6, 6, 0.3, seed=seed)
    backward = nx.Graph()
    backward.add_nodes_from(reversed(list(G)))
    backward.add_edges_from(G.edges)
    assert kg.significance(G, nulls=19) == kg.significance(backward, nulls=19)


def test_a_generator_moves_on():
    rng = np.random.default_rng(0)
    G = nx.karate_club_graph()
    first, second = (kg.significance(G, nulls=19, rng=rng) for _ in range(2))
    assert first.null_eigenvalues != second.null_eigenvalues
    assert kg.significance(G, nulls=19, rng=np.random.default_rng(0)) == first


def test_only_links_between_different_nodes_count():
    G = nx.MultiGraph(nx.ring_of_cliques(4, 5))
    plain = kg.significance(G, nulls=19)
    G.add_edge(0, 0)
    G.add_edge(0, 1)
    G.add_node(20)
    G.add_edge(0, 10, weight=0.0)
    verdict = kg.significance(G, nulls=19)
    assert verdict.weighted
    assert (verdict.n, verdict.m) == (plain.n, plain.m) == (20, 44)
    assert verdict.null_eigenvalues == plain.null_eigenvalues
    assert verdict.p == plain.p


def test_weights_are_not_used_in_the_test():
    G = nx.karate_club_graph()
    weighted, plain = (kg.significance(G, nulls=19, weight=weight) for weight in ("weight", None))
    assert weighted.null_eigenvalues == plain.null_eigenvalues
    assert str(weighted).endswith("Edge weights were not used in the test.")
    assert "weights" not in str(plain)


def test_separate_cliques_are_structure():
    verdict = kg.significance(nx.disjoint_union_all([nx.complete_graph(6)] * 5), nulls=19)
    assert verdict.significant
    assert verdict.snr == pytest.approx(2.0)
    assert verdict.detectability == "detectable"
    assert verdict.communities == 5


@pytest.mark.parametrize(
    ("G", "why"),
    [
        (nx.empty_graph(0), "the graph has 0 edges"),
        (nx.empty_graph(5), "the graph has 0 edges"),
        (nx.path_graph(2), "the graph has 1 edge"),
        (nx.complete_graph(4), "the graph has 6 edges"),
        (nx.balanced_tree(2, 5), "no component has more than one cycle"),
        (nx.disjoint_union_all([nx.cycle_graph(5)] * 4), "no component has more than one cycle"),
    ],
)
def test_too_little_to_tell(G, why):
    verdict = kg.significance(G, nulls=19)
    assert str(verdict) == f"There is too little to tell: {why}."
    assert repr(verdict) == "Significance(significant=False)"
    assert (verdict.test, verdict.p, verdict.snr) == ("none", None, None)


@pytest.mark.parametrize("G", [nx.complete_graph(12), nx.complete_bipartite_graph(1, 30)])
def test_graphs_that_no_swap_changes_are_never_significant(G):
    verdict = kg.significance(G, nulls=19)
    assert not verdict.significant
    assert verdict.p in (None, 1.0)
    assert str(verdict).startswith("There is too little to tell: ")


def test_the_sentences_of_a_clear_case():
    verdict = kg.significance(nx.ring_of_cliques(8, 6))
    assert str(verdict).splitlines() == [
        "The graph has more structure than random graphs with its degrees: none of 99 has a second "
        f"eigenvalue of {verdict.eigenvalue:.3f} or more (p = 0.01).",
        "That is structure beyond chance, and nothing shows the 8 communities that are found to be "
        "patches of a continuum, such as those of a grid.",
        "Structure as strong as this can be detected: the signal-to-noise ratio is about "
        f"{verdict.snr:.2f}, above the Kesten-Stigum threshold, which is 1.",
    ]
    assert repr(verdict).startswith("Significance(significant=True, p=0.01, snr=")


def test_structure_is_told_from_communities():
    grid = nx.grid_2d_graph(20, 20)
    verdict = kg.significance(grid, nulls=19)
    assert verdict.significant
    assert verdict.patches == verdict.communities
    assert str(verdict).splitlines()[1] == (
        "That is structure beyond chance, but not communities: the "
        f"{verdict.communities} that are found look like patches of a continuum, whose borders "
        "could as well lie elsewhere."
    )
    few = kg.significance(nx.karate_club_graph(), nulls=19)
    assert few.patches is None
    assert "fewer than three cannot be told from patches of a continuum" in str(few)
    mixed = kg.significance(nx.disjoint_union(grid, nx.ring_of_cliques(5, 8)), nulls=19)
    assert mixed.patches == mixed.communities - 5
    assert f"not communities alone: {mixed.patches} of {mixed.communities} look like" in str(mixed)


def test_the_sentences_of_a_random_graph():
    verdict = kg.significance(nx.gnm_random_graph(300, 900, seed=1))
    larger = sum(value >= verdict.eigenvalue for value in verdict.null_eigenvalues)
    assert larger > 5
    assert str(verdict).splitlines() == [
        "The graph shows no more structure than random graphs with its degrees: "
        f"{larger} of 99 have a second eigenvalue of {verdict.eigenvalue:.3f} or more "
        f"(p = {(larger + 1) / 100:.2g}).",
    ]


def test_the_signal_to_noise_ratio_of_a_planted_partition():
    graph, _ = planted_partition(3000, k=2, degree=8.0, snr=1.8, rng=0)
    verdict = kg.significance(graph, nulls=19)
    assert verdict.snr == pytest.approx(1.8, abs=0.1)
    assert verdict.snr == pytest.approx(
        verdict.eigenvalue + np.sqrt(verdict.eigenvalue**2 - 1.0), abs=1e-12
    )
    assert verdict.detectability == "detectable"


def test_faint_structure_is_at_the_edge():
    verdict = kg.significance(kg.datasets.load("karate").graph)
    assert (verdict.significant, verdict.detectability) == (True, "at the edge")
    assert (
        "Communities as faint as this can be lost in the noise of large random graphs: the "
        f"signal-to-noise ratio is about {verdict.snr:.2f}, not clearly above the Kesten-Stigum"
    ) in str(verdict)


@pytest.mark.parametrize("snr", [0.0, 1.6])
def test_moments_decide_without_nulls(snr):
    graph, _ = planted_partition(3000, k=3, degree=8.0, snr=snr, rng=1)
    verdict = kg.significance(graph, nulls=0)
    assert (verdict.test, verdict.nulls, verdict.p) == ("moments", 0, None)
    assert verdict.significant == (verdict.signal > verdict.threshold) == (snr > 0.0)
    assert verdict.snr == pytest.approx(max(snr, 1.0), abs=0.15)
    assert ("exceeds" if snr else "does not exceed") in verdict.sentence


def test_moments_see_two_components():
    parts = [planted_partition(1500, k=2, degree=6.0, snr=0.0, rng=seed).graph for seed in (0, 1)]
    halves = nx.disjoint_union_all([part.to_networkx() for part in parts])
    for graph, expected in ((halves, True), (parts[0], False)):
        assert kg.significance(graph, nulls=0).significant is expected


def test_large_graphs_are_judged_by_moments():
    graph, _ = planted_partition(6000, k=2, degree=3.0, snr=0.0, rng=0)
    assert kg.significance(graph).test == "moments"


def test_progress_counts_the_nulls():
    calls = []
    kg.significance(nx.karate_club_graph(), nulls=19, progress=lambda *call: calls.append(call))
    assert calls == [(done, 19) for done in range(1, 20)]


def test_doubts_about_communities_are_not_passed_on():
    G = nx.complete_bipartite_graph(8, 9)
    with pytest.warns(KGroupsWarning):
        kg.detect_communities(G)
    with warnings.catch_warnings():
        warnings.simplefilter("error", KGroupsWarning)
        assert kg.significance(G, nulls=19).communities == 1


def test_a_verdict_is_json():
    verdict = kg.significance(nx.karate_club_graph(), nulls=19)
    record = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert record["p"] == verdict.p
    assert record["null_eigenvalues"] == list(verdict.null_eigenvalues)
    assert record["sentence"] == str(verdict).splitlines()[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nulls": 18}, "nulls must be 0 or at least 19, got 18: with fewer p cannot be as small"),
        ({"nulls": -1}, "nulls must be a whole number >= 0, got -1"),
        ({"nulls": 19.0}, "nulls must be a whole number >= 0, got 19.0"),
        ({"nulls": 0}, "nulls=0 needs 500 nodes with an edge, got 34"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"rng": -1}, "rng must be None, a whole number >= 0 or a numpy Generator, got -1"),
        ({"progress": "yes"}, "progress must be True, False or a callable of (done, total)"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        kg.significance(nx.karate_club_graph(), **options)


def test_directed_graphs_need_a_rule():
    D = nx.DiGraph(nx.karate_club_graph().edges)
    with pytest.raises(InputError, match="symmetrize"):
        kg.significance(D)
    union = kg.significance(D, nulls=19, symmetrize="union")
    assert union == kg.significance(nx.karate_club_graph(), nulls=19, weight=None)
