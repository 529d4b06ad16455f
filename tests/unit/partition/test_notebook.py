"""What notebooks show: tables and pictures, in which every text is escaped."""

import base64
import re
import sys
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

import kgroups
from kgroups.partition import Partition
from kgroups.studies import Study, phase_transition

SCRIPT = "<script>alert(1)</script>"
MARKUP = "\"><img src=x onerror='alert(1)'>&amp;"
ALLOWED = {"b", "div", "img", "table", "tbody", "td", "th", "thead", "tr"}
VOID = {"img"}


class Page(HTMLParser):
    """Collects the elements of a page, and fails on one that is not closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(html):
    """Return the page after a check that nothing in it can run or load."""
    page = Page(html)
    assert {tag for tag, _ in page.elements} <= ALLOWED
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
        assert "href" not in attributes
    return page


def images(html):
    return [base64.b64decode(data) for data in re.findall(r'base64,([^"]*)"', html)]


def test_a_partition_shows_its_communities_and_a_picture():
    drawn = kgroups.generators.planted_partition(120, 11, 11.0, 2.2, rng=0)
    partition = kgroups.detect_communities(drawn.graph)
    html = partition._repr_html_()
    page = checked(html)
    assert page.words[0] == "11 communities of 120 nodes"
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + 8
    assert "and 3 more" in page.words
    (picture,) = images(html)
    assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [SCRIPT, MARKUP, "a\nb", "$x_"])
def test_names_with_markup_are_text(name):
    G = nx.relabel_nodes(nx.barbell_graph(5, 0), {0: name, 1: (name, 1)})
    for partition in (
        kgroups.detect_communities(G),
        Partition([0] * 5 + [1] * 5, nodes=list(G)),
    ):
        page = checked(partition._repr_html_())
        start = " ".join(name.split())[:8]
        assert any(start in word for word in page.words)


def test_a_long_name_does_not_hide_the_others():
    partition = Partition([0, 0, 0], nodes=["x" * 1000, "second", "third"])
    assert any(word.endswith("…, second, third") for word in checked(partition._repr_html_()).words)


def test_partitions_without_a_graph_or_nodes_have_no_picture():
    for partition in (Partition([0, 0, 1]), Partition([])):
        assert not images(partition._repr_html_())
        checked(partition._repr_html_())


def test_without_matplotlib_there_are_tables_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    partition = kgroups.detect_communities(nx.karate_club_graph())
    for shown in (partition, partition.compare(partition), study()):
        html = shown._repr_html_()
        assert not images(html)
        assert "<td" in html


def test_large_graphs_are_shown_by_community():
    n = 1200
    graph = kgroups.as_graph(nx.path_graph(n))
    html = Partition(np.arange(n) // 100, graph=graph)._repr_html_()
    assert len(images(html)) == 1
    assert "12 communities of 1200 nodes" in html


def test_weights_and_warnings_are_shown():
    karate = nx.karate_club_graph()
    page = checked(kgroups.detect_communities(karate)._repr_html_())
    assert "weight inside" in page.words
    assert any(word.startswith("they describe the graph clearly better") for word in page.words)


def test_a_report_shows_facts_and_times():
    report = kgroups.detect_communities(nx.karate_club_graph()).report
    page = checked(report._repr_html_())
    assert report.about_k() in page.words
    assert "34" in page.words
    for name, spent in report.seconds.items():
        assert name in page.words
        assert f"{spent:.3f} s" in page.words


def study(method="kgroups"):
    rows = [
        {"snr": snr, "trial": t, "method": m, "k_given": True, "overlap": value, "k_hat": 2}
        | {"seconds": 0.1, "seed": 1}
        for snr in (1.0, 2.0)
        for m in (method, "leiden")
        for t, value in enumerate((0.4, 0.6))
    ]
    return Study(("snr",), ("overlap",), tuple(rows))


def test_a_study_shows_means_and_its_figure():
    html = study()._repr_html_()
    page = checked(html)
    assert page.words[0] == "Study of 8 rows"
    # Student's t for two trials: 12.7 times the standard error, 0.1.
    assert page.words.count("0.500 ± 1.271") == 4
    assert len(images(html)) == 1


def test_a_study_of_methods_with_markup():
    page = checked(study(SCRIPT)._repr_html_())
    assert SCRIPT in page.words


def test_studies_that_cannot_be_drawn_show_a_table():
    words = Study(
        ("law",), ("ami",), tuple({**row, "law": "power", "ami": 0.5} for row in study().rows)
    )
    html = words._repr_html_()
    assert not images(html)
    assert "power" in checked(html).words
    checked(Study(("snr",), ("overlap",), ())._repr_html_())


def test_a_study_as_it_is_run():
    ran = phase_transition(
        60, k=2, degree=5.0, snr=[1.0, 2.0], trials=1, methods=("kgroups",), rng=0, progress=False
    )
    assert len(images(ran._repr_html_())) == 1


def test_a_comparison_shows_scores_and_flows():
    comparison = Partition([0, 0, 1, 1], nodes=[SCRIPT, 1, 2, 3]).compare([0, 0, 0, 1])
    page = checked(comparison._repr_html_())
    assert "AMI" in page.words
    assert len(images(comparison._repr_html_())) == 1


def test_levels_show_a_row_each_and_their_tree():
    graph = kgroups.as_graph(nx.relabel_nodes(nx.path_graph(6), {0: SCRIPT}))
    fine, coarse = (Partition(z, graph=graph) for z in ([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]))
    html = kgroups.Levels([fine, coarse], [2.0, 1.5], returned=1)._repr_html_()
    page = checked(html)
    assert page.words[0] == "2 levels of 6 nodes, finest first"
    assert page.words.count("returned") == 1
    # Five of the six nodes are where most of their community is.
    assert {"k3", "k2", "2, 2, 2", "3, 3", "83.3%"} <= set(page.words)
    assert len(images(html)) == 1
    assert images(kgroups.Levels([coarse], [1.5])._repr_html_()) == []


def test_scores_show_a_row_each():
    page = checked(
        kgroups.detect_communities(nx.karate_club_graph(), weight=None).scores()._repr_html_()
    )
    assert page.words[0] == "Scores of 2 communities"
    assert {"modularity", "0.371", "mean conductance", "cut size"} <= set(page.words)


def test_a_confusion_table_shows_names_as_text():
    table = kgroups.metrics.confusion([SCRIPT, SCRIPT, MARKUP], ["a", "b", "b"])
    page = checked(table._repr_html_())
    assert page.words[0] == "2 classes (rows) in 2 groups (columns)"
    assert {SCRIPT, "a", "b", "1"} <= set(page.words)
    many = kgroups.metrics.confusion(np.arange(50), np.arange(50))
    page = checked(many._repr_html_())
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + 20
    assert "The first 20 of each are shown." in page.words


def test_a_distribution_of_k_shows_a_row_for_each_number():
    found = kgroups.k_distribution(nx.karate_club_graph(), weight=None)
    page = checked(found._repr_html_())
    assert page.words[0] == "Number of communities of 34 nodes and 78 edges"
    assert {"communities", "probability", "nats", "0.99", *found.lines()} <= set(page.words)
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + min(found.k_values.size, 6)


def test_stability_shows_a_row_for_each_community():
    G = nx.ring_of_cliques(22, 5)
    G.add_nodes_from(["alone", "apart"])
    found = kgroups.detect_communities(G).stability(2)
    page = checked(found._repr_html_())
    assert page.words[0] == str(found).splitlines()[0]
    assert {"community", "nodes", "stability", *found.lines(), "and 2 more"} <= set(page.words)
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + 20
    # A community without edges has no value, and single nodes have rows if there is nothing else.
    unlinked = kgroups.Partition([0, 0], graph=kgroups.Graph.from_edges([], [], n=2)).stability(2)
    assert checked(unlinked._repr_html_()).words[-2:] == ["0", "2"]
    linked = kgroups.Partition([0, 1], graph=kgroups.as_graph(nx.path_graph(2)))
    page = checked(linked.stability(2, drop=0.0)._repr_html_())
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + 2


def test_a_verdict_shows_its_sentences_and_numbers():
    verdict = kgroups.significance(nx.karate_club_graph(), nulls=19)
    page = checked(verdict._repr_html_())
    assert page.words[0] == "Structure of 34 nodes and 78 edges"
    assert {"p", f"{verdict.p:.3g}", *verdict.lines()} <= set(page.words)
    # What is not known has no row.
    little = kgroups.significance(nx.path_graph(3))
    assert "p" not in checked(little._repr_html_()).words


def test_a_summary_shows_its_sentences_and_a_row_for_each_community():
    summary = kgroups.detect_communities(nx.karate_club_graph(), weight=None).summary()
    page = checked(summary._repr_html_())
    assert set(summary.sentences) <= set(page.words)
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + 2


def test_nothing_sets_the_color_of_text_or_background():
    """Notebooks have dark themes, too."""
    partition = kgroups.detect_communities(nx.karate_club_graph(), weight=None)
    results = (
        partition.scores(),
        partition.summary(),
        partition.report,
        partition.k_distribution(),
    )
    for one in (*results, kgroups.metrics.confusion([0, 1], [0, 1])):
        html = one._repr_html_()
        assert not re.search(r"(?<!-)\bcolor\s*:|background", html)
        assert not re.search(r"#(fff|000)", html)
