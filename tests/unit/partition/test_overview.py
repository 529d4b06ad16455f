"""What a partition is in plain sentences: the story that the summary and the report tell."""

import pickle
import re

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.scales import give_scales
from kgroups import Partition
from kgroups.errors import PartitionError
from kgroups.page import page_content
from kgroups.partition.tables import Summary, not_computed, overview

KARATE = nx.karate_club_graph()


@pytest.fixture(scope="module")
def caves():
    partition = kg.detect_communities(nx.relaxed_caveman_graph(12, 6, 0.25, seed=0))
    partition.summary(full=True)
    return partition


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0, 0, 1, 1], "2 communities of 2 nodes, by the labels given."),
        ([0, 0, 0, 1, 1], "2 communities of 2 to 3 nodes, by the labels given."),
        ([0, 0, 1], "1 community of 2 nodes and 1 single node, 2 in all, by the labels given."),
        ([0, 1, 2], "3 single nodes, by the labels given."),
        ([0, 0, 0], "All 3 nodes are one community, by the labels given."),
        ([0], "The only node is one community, by the labels given."),
    ],
)
def test_how_many(labels, sentence):
    assert overview(Partition(labels)) == [sentence]


@pytest.mark.parametrize(
    ("labels", "first"),
    [
        ([0, 0, 1, 1], "Partition(2 communities of 4 nodes, sizes 2, 2)"),
        ([0, 0, 1], "Partition(1 community and 1 single node, 3 nodes in all, sizes 2)"),
        (
            [0] * 9 + [1] * 8 + list(range(2, 82)),
            "Partition(2 communities and 80 single nodes, 97 nodes in all, sizes 9, 8)",
        ),
        ([0, 1, 2], "Partition(3 single nodes)"),
        ([0], "Partition(1 single node)"),
        ([], "Partition(0 communities of 0 nodes)"),
    ],
)
def test_the_headline_counts_single_nodes_apart(labels, first):
    partition = Partition(labels)
    assert repr(partition) == first
    head = first.removeprefix("Partition(").removesuffix(")").partition(", sizes")[0]
    assert f"<b>{head}</b>" in partition._repr_html_()


def test_report_and_graph_of_communities_count_single_nodes_apart():
    G = nx.disjoint_union(nx.empty_graph(20), nx.ring_of_cliques(4, 8))
    partition = kg.detect_communities(G)
    assert (partition.k, len(partition)) == (24, 24)
    assert partition.report.about_k() == "4 communities and 20 single nodes in 21 components."
    assert overview(partition)[0] == "4 communities of 8 nodes and 20 single nodes, 24 in all."
    assert partition.report.to_dict()["n_single"] == 20
    axes = kg.plotting.plot_communities(partition)
    assert any("4 communities and 20 single nodes" in text.get_text() for text in axes.texts)


def test_results_count_single_nodes_apart():
    """Stability, comparisons and scores said 44 communities beside 4 and 40 single nodes."""
    G = nx.ring_of_cliques(4, 8)
    G.add_nodes_from(range(100, 140))
    found = kg.detect_communities(G)
    several = "4 communities and 40 single nodes"
    assert str(found.stability(2)).startswith(f"Stability of {several} of 72 nodes, 2 resamples")
    headline = f"{several} against 1 community of 72 nodes"
    assert repr(found.compare([0] * 72)).startswith(f"Comparison({headline}: AMI ")
    assert f"<b>Scores of {several}</b>" in found.scores()._repr_html_()


def test_scales_are_counted_as_the_buttons_of_the_page(monkeypatch):
    """A sentence said 505 communities where the button said 504."""
    fine = np.array([*(np.arange(59) // 5), 12])
    give_scales(monkeypatch, np.array([*(fine[:59] // 3), 4]), np.array([*(fine[:59] // 6), 2]))
    G = nx.ring_of_cliques(12, 5)
    found = Partition(fine, graph=kg.as_graph(G))
    levels = found.levels()
    assert levels.names == ("k13", "k5", "k3")
    assert overview(found)[1] == "Other scales have 4 and 2 communities."
    page = page_content(found, found.graph, spectrum=False, uncertainty=False).decode()
    assert re.findall(r'"k":(\d+),"several":(\d+)', page) == [("13", "12"), ("5", "4"), ("3", "2")]


def test_no_nodes():
    assert overview(Partition([])) == ["There are no nodes."]
    assert str(Partition([]).summary()) == "There are no nodes."


def test_detected_and_asked_for():
    found = kg.detect_communities(KARATE, weight=None)
    assert overview(found)[0] == "2 communities of 16 to 18 nodes."
    asked = kg.detect_communities(KARATE, 3, weight=None)
    assert overview(asked)[0].endswith(", as many as were asked for.")
    refined = kg.refine_partition(KARATE, found)
    assert overview(refined)[0].endswith(", as many as in the labels given.")
    one = kg.detect_communities(nx.gnm_random_graph(100, 250, seed=2), method=kg.Search())
    assert overview(one)[0].startswith(("All ", "1 community of "))


def test_nothing_is_computed_unless_asked_for():
    partition = kg.detect_communities(KARATE)
    sentences = partition.summary().sentences
    assert sentences[-1] == (
        "Not computed: levels(), k_distribution(), stability(); summary(full=True) computes all."
    )
    assert partition.known_levels is partition.known_stability is None
    assert partition.known_k_distribution is None
    partition.levels()
    flags = ("--levels", "--k-distribution", "--stability")
    assert not_computed(partition, flags) == ["--k-distribution", "--stability"]


def test_the_whole_story(caves):
    sentences = caves.summary().sentences
    assert sentences[0] == "12 communities of 6 nodes."
    assert sentences[1].startswith(("Other scales have ", "No other scale "))
    assert sentences[2].startswith("12 is the most probable number (P = 0.6")
    assert sentences[3] == "The spectrum, which can miss small or faint communities, shows 9."
    assert sentences[4].startswith("Without 10 % of the edges, ")
    assert not any(each.startswith("Not computed") for each in sentences)
    assert caves.known_k_distribution.k == len(caves)


def test_another_number_than_the_most_probable_is_explained():
    asked = kg.detect_communities(KARATE, 4, weight=None)
    asked.k_distribution()
    assert any(
        each.startswith("2 is the most probable number (P = 0.99; 4: 0.00")
        and each.endswith("detect_communities finds 2 with its defaults.")
        for each in overview(asked)
    )
    missed = kg.detect_communities(nx.davis_southern_women_graph())
    missed.k_distribution()
    (sentence,) = (each for each in overview(missed) if "most probable" in each)
    assert missed.known_k_distribution.explanation in sentence
    # What is said first does not contradict that.
    assert overview(missed)[0] == "All 32 nodes are one community."
    assert overview(missed, uncertainty=False)[0].endswith("nothing was found that divides them.")
    other = kg.detect_communities(KARATE, method=kg.Search(), weight=None)
    other.k_distribution()
    (sentence,) = (each for each in overview(other) if "most probable" in each)
    assert sentence.endswith("detect_communities finds 2 with its defaults.") == (len(other) != 2)


def test_isolated_nodes_are_no_disagreement_with_the_spectrum():
    partition = kg.detect_communities(nx.disjoint_union(KARATE, nx.empty_graph(5)), weight=None)
    _ = partition.spectrum
    sentences = overview(partition)
    assert sentences[0] == "2 communities of 16 to 18 nodes and 5 single nodes, 7 in all."
    assert "The spectrum shows 2, too, single nodes left out." in sentences


def test_warnings_speak_against_it():
    with pytest.warns(kg.errors.DisassortativeWarning):
        partition = kg.detect_communities(nx.davis_southern_women_graph())
    against = [each for each in partition.summary().sentences if each.startswith("Warning: ")]
    assert against == [f"Warning: {partition.report.warnings[0]}"]


def test_a_summary_is_the_list_of_its_rows(caves):
    summary = caves.summary()
    assert isinstance(summary, Summary)
    assert summary == list(summary)
    assert [row["nodes"] for row in summary] == caves.sizes.tolist()
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(summary).shape == (12, 7)
    again = pickle.loads(pickle.dumps(summary))
    assert again == summary
    assert again.sentences == summary.sentences


def test_a_printed_summary_is_sentences_and_a_table(caves):
    summary = caves.summary()
    text = str(summary).splitlines()
    assert text[: len(summary.sentences)] == summary.sentences
    assert text[len(summary.sentences) + 1].split() == list(summary[0])
    assert len(text) == len(summary.sentences) + 2 + len(summary)
    html = summary._repr_html_()
    assert "12 is the most probable number" in html
    assert "<td" in html


def test_what_was_computed_survives_pickling(caves):
    again = pickle.loads(pickle.dumps(caves))
    assert again.known_k_distribution.about(12) == caves.known_k_distribution.about(12)
    assert not any("k_distribution" in each for each in again.summary().sentences)


def test_parts_can_be_left_out(caves):
    some = overview(caves, levels=False, spectrum=False, uncertainty=False)
    assert some == [overview(caves)[0], *overview(caves)[5:]]


def test_long_summaries_are_cut():
    summary = Partition(np.repeat(np.arange(30), 2)).summary()
    assert str(summary).endswith("... and 10 more")
    assert "and 10 more" in summary._repr_html_()


def test_names_are_escaped():
    G = nx.relabel_nodes(nx.complete_graph(5), {0: "<b>"})
    assert "<b>" not in kg.detect_communities(G).summary()._repr_html_()


def test_a_partition_without_a_graph_cannot_be_asked_more():
    with pytest.raises(PartitionError, match=r"summary\(full=True\) needs the graph"):
        Partition([0, 0, 1]).summary(full=True)


def test_stages_are_announced():
    stages = []
    kg.detect_communities(KARATE).summary(full=True, progress=stages.append)
    for stage in ("finding levels", "computing stability", "counting eigenvalues"):
        assert any(each.startswith(stage) for each in stages)


def test_eigenvalues_that_show_no_community():
    G = nx.grid_2d_graph(20, 20)
    partition = Partition(np.arange(400) // 200, graph=kg.as_graph(G))
    with pytest.warns(kg.errors.CrowdedThresholdWarning):
        k = partition.spectrum.k
    assert f"The spectrum shows {k} eigenvalues, not all of which show a community." in overview(
        partition
    )
