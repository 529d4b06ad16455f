"""The file of an interactive report: what it holds, how names get into it, what is refused."""

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.scales import give_scales
from kgroups.errors import CrowdedThresholdWarning, InputError, PartitionError
from kgroups.page import page_content
from kgroups.page.document import PageLimits, graph_figures
from kgroups.partition import Partition
from kgroups.plotting.graphs import partition_colors

HOSTILE = [
    "</script><script>alert(1)",
    "<!--<script>",
    "&amp;\u2028",
    "a\ud800b",
    "=1+2",
    "{{data}}",
]


@pytest.fixture(scope="module")
def partition():
    names = HOSTILE + [f"n{i}" for i in range(6)]
    graph = nx.relabel_nodes(nx.barbell_graph(6, 0), dict(enumerate(names)))
    return kg.detect_communities(graph)


@pytest.fixture(scope="module")
def page(partition):
    return page_content(partition, partition.graph, title="<i>&").decode()


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])


def level_of(data):
    """Return what a page holds of the level that was returned."""
    return data["levels"][data["returned"]]


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), f"<{kind}")


def test_names_survive_as_data_and_nowhere_else(partition, page):
    block = re.search(r'id="data">(.*?)</script>', page)[1]
    assert not set("<>&\u2028\u2029") & set(block)
    assert block.isascii()
    assert json.loads(block)["nodes"]["names"] == list(partition.nodes)
    assert page.count("alert(1)") == block.count("alert(1)")


def test_the_title_is_escaped(page):
    assert page.count("&lt;i&gt;&amp;") == 2
    assert "<i>&" not in page


def test_the_policy_allows_the_script_by_its_hash_and_loads_nothing(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page)[1])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert re.findall(r"'sha256-(.*?)'", policy) == [digest]
    assert "unsafe-eval" not in policy
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy


def test_the_page_is_small_and_loads_no_address(page):
    assert len(page) < 100_000
    # The namespace of SVG is a name, from which nothing is loaded.
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", page)


@pytest.mark.parametrize("weighted", [True, False])
def test_scores_and_columns_say_where_edges_count_by_weight(weighted, tmp_path):
    """Weighted conductance stood beside numbers of edges without a word."""
    weight = "weight" if weighted else None
    found = kg.detect_communities(nx.karate_club_graph(), weight=weight)
    found.to_html(tmp_path / "p.html", spectrum=False, levels=False, uncertainty=False)
    page = (tmp_path / "p.html").read_text("utf-8")
    assert data_of(page)["weighted"] == weighted
    assert page.count("; edges count by their weights") == 2 * weighted


def test_numbers_of_the_page(partition, page):
    data, graph = data_of(page), partition.graph
    level = level_of(data)
    assert (data["n"], level["k"]) == (graph.n, partition.k)
    nodes, communities = data["nodes"], level["communities"]
    assert unpacked(level["community"], "u4").tolist() == partition.labels.tolist()
    assert unpacked(nodes["degree"], "u4").tolist() == graph.degrees.astype(int).tolist()
    steps = unpacked(level["confidence"], "u2")
    assert np.abs(steps / 10_000 - partition.confidence()).max() <= 0.5e-4
    assert unpacked(level["runnerUp"], "u4").tolist() == (partition.runner_up() + 1).tolist()
    assert communities["size"] == partition.sizes.tolist()
    assert sum(communities["inside"]) + sum(communities["leaving"]) // 2 == graph.m
    expected = np.round(kg.scoring.conductance(graph, partition), 4)
    assert communities["conductance"] == expected.tolist()
    ends = [unpacked(data["edges"][end], "u4") for end in ("source", "target")]
    rows, cols, _ = graph.edges()
    assert [end.tolist() for end in ends] == [rows.tolist(), cols.tolist()]
    assert level["links"] == {"a": [0], "b": [1], "count": [1], "total": 1}
    assert len(level["colorOf"]) == partition.k
    assert len({level["palette"][c] for c in level["colorOf"]}) == partition.k


def test_members_are_those_of_the_highest_degree(page, partition):
    degrees = dict(zip(partition.nodes, partition.graph.degrees, strict=True))
    for a, named in enumerate(level_of(data_of(page))["communities"]["members"]):
        best = max(degrees[node] for node in partition[a])
        assert degrees[named[0]] == best
        assert set(named) <= partition[a]


def test_the_text_of_the_page(partition, page):
    assert "A graph of 12 nodes and 31 edges. <strong>2 communities of 6 nodes.</strong> " in page
    assert html.escape(partition.report.why) in page
    assert f"{partition.scores().modularity:.3f}" in page
    for rule, count in partition.spectrum.k_at.items():
        assert f"<td>{partition.spectrum.r_at[rule]:.4g}</td><td>{count}</td>" in page
    assert 'class="warnings"' not in page


def test_the_page_counts_single_nodes_apart_as_the_report_does():
    G = nx.ring_of_cliques(4, 8)
    G.add_nodes_from(range(100, 140))
    found = kg.detect_communities(G)
    limits = PageLimits(levels=0)
    page = page_content(found, found.graph, uncertainty=False, limits=limits).decode()
    said = "<p>The spectrum shows 4, too, single nodes left out: 4 eigenvalues of <i>N</i><sub>r"
    assert said in page
    assert "which can miss small or faint communities" not in page
    assert "in a component of 1 node:" not in page
    (sentence,) = found.report.about_components()
    assert sentence.startswith("4 communities in a component of 32 nodes")
    assert html.escape(sentence) in page
    assert sentence in found.report.lines()


def test_equal_graphs_give_equal_bytes(partition):
    again = kg.detect_communities(partition.graph)
    assert page_content(again, again.graph) == page_content(partition, partition.graph)


@pytest.mark.slow
def test_another_hash_seed_gives_equal_bytes(tmp_path):
    script = (
        "import sys, networkx as nx, kgroups as kg\n"
        "graph = nx.relabel_nodes(nx.barbell_graph(5, 1), str)\n"
        "kg.detect_communities(graph).to_html(sys.argv[1])\n"
    )
    pages = []
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.html"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script, path], env=environment, check=True)
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]


def test_names_that_are_equal_as_text_are_told_apart():
    graph = nx.Graph([(1, "1"), ("1", 2)])
    named = kg.detect_communities(graph)
    assert data_of(page_content(named, named.graph).decode())["nodes"]["names"] == ["1", "'1'", "2"]


def test_numbers_as_names_are_not_stored():
    plain = kg.detect_communities(np.ones((4, 4)) - np.eye(4))
    assert data_of(page_content(plain, plain.graph).decode())["nodes"]["names"] is None


def test_weights_give_strengths():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.5), ("b", "c", 1.0)])
    weighted = kg.detect_communities(graph)
    assert data_of(page_content(weighted, weighted.graph).decode())["nodes"]["strength"] == [
        2.5,
        3.5,
        1.0,
    ]


def test_beyond_the_limits_the_file_holds_communities_and_some_edges(partition):
    limits = PageLimits(nodes=11)
    data = graph_figures(partition, partition.graph, None, limits)
    assert data["nodes"] is None
    assert data["edges"] is None
    assert level_of(data)["communities"]["members"] == [[], []]
    assert level_of(data)["community"] is None
    data = graph_figures(partition, partition.graph, None, PageLimits(edges=10))
    held = list(zip(*(unpacked(data["edges"][e], "u4") for e in ("source", "target")), strict=True))
    rows, cols, _ = partition.graph.edges()
    assert len(set(held)) == 10
    assert set(held) <= set(zip(rows.tolist(), cols.tolist(), strict=True))
    assert data["edges"]["total"] == 31


def test_spectrum_confidence_and_levels_are_computed_up_to_a_size_or_when_wanted():
    def shown(limits, **options):
        fresh = kg.detect_communities(nx.barbell_graph(6, 0))
        stages = []
        content = page_content(
            fresh, fresh.graph, limits=limits, progress=stages.append, **options
        ).decode()
        data = data_of(content)
        assert ("spectrum is not part of this report" in content) == ("spectrum" not in data)
        assert ("most probable number" in content) == ("computing stability" in stages)
        assert ("Without 10 % of the edges" in content) == ("computing stability" in stages)
        tried = [stage for stage in stages if stage.startswith("trying")]
        others = [s for s in stages if s not in (*tried, "searching", "comparing candidates")]
        others = [stage for stage in others if not stage.startswith("computing stability: ")]
        assert bool(tried) == ("computing stability" in stages)
        return "spectrum" in data, level_of(data)["confidence"] is not None, others

    steps = ["laying out the graph", "writing the page"]
    both = ["computing the spectrum", "computing confidence"]
    scales, stability = ["finding levels"], ["computing stability"]
    large, small = PageLimits(), PageLimits(computed=11, levels=11)
    assert shown(large) == (True, True, both + scales + stability + steps)
    assert shown(large, uncertainty=False) == (True, True, both + scales + steps)
    assert shown(small, uncertainty=True) == (False, False, stability + steps)
    assert shown(small) == (False, False, steps)
    # Levels take no longer than detection, the rest can.
    assert shown(PageLimits(computed=11)) == (False, False, scales + steps)
    assert shown(small, spectrum=True, confidence=True) == (True, True, both + steps)
    assert shown(large, spectrum=False, confidence=False, uncertainty=False) == (
        False,
        False,
        scales + steps,
    )
    assert shown(small, levels=True) == (False, False, scales + steps)
    assert shown(large, levels=False) == (True, True, both + stability + steps)


def test_a_known_spectrum_is_shown_at_any_size(partition):
    assert partition.known_spectrum is not None
    content = page_content(partition, partition.graph, limits=PageLimits(computed=1)).decode()
    assert data_of(content)["spectrum"]["k"] == partition.spectrum.k


def test_a_known_confidence_is_shown_at_any_size():
    known = kg.detect_communities(nx.barbell_graph(6, 0))
    sure = known.confidence()
    for confidence in (None, True, False):
        stages = []
        content = page_content(
            known,
            known.graph,
            limits=PageLimits(computed=1),
            confidence=confidence,
            progress=stages.append,
        ).decode()
        held = level_of(data_of(content))["confidence"]
        assert (held is None) == (confidence is False)
        assert ("probability of 0.9 or more" in content) == (confidence is not False)
        if held is not None:
            assert unpacked(held, "u2") / 10_000 == pytest.approx(sure, abs=1e-4)
        assert "computing confidence" not in stages


def test_stability_is_shown_if_it_is_known():
    graph = nx.ring_of_cliques(5, 6)
    graph.add_node(30)
    partition = kg.detect_communities(graph)
    content = page_content(partition, partition.graph, uncertainty=False).decode()
    assert level_of(data_of(content))["stability"] is None
    assert "Stability of" not in content
    known = partition.stability(4)
    content = page_content(partition, partition.graph).decode()
    level = level_of(data_of(content))
    assert level["communities"]["stability"] == [1.0] * 5 + [None]
    assert unpacked(level["stability"], "u2").tolist() == [10_000] * 30 + [65_535]
    assert "Stability of 5 communities and 1 single node of 31 nodes, 4 resamples" in content
    assert known.lines()[1] in content
    assert "stay in 0.9 of the resamples or more</dt><dd>100 %" in content
    # What is known is not shown if it is not wanted.
    _ = partition.spectrum, partition.levels(), partition.k_distribution()
    content = page_content(
        partition, partition.graph, spectrum=False, levels=False, uncertainty=False
    ).decode()
    assert level_of(data_of(content))["stability"] is None
    for part in ("Stability of", "of the resamples", "most probable", "The spectrum shows"):
        assert part not in content
    # Beyond a size there are communities only.
    limits = PageLimits(nodes=3)
    level = level_of(data_of(page_content(partition, partition.graph, limits=limits).decode()))
    assert level["stability"] is None
    assert level["communities"]["stability"] == [1.0] * 5 + [None]


def test_the_page_warns_of_nodes_that_are_certain_and_leave():
    partition = kg.detect_communities(nx.karate_club_graph(), weight=None)
    partition.stability()
    content = page_content(partition, partition.graph).decode()
    assert "nodes have a confidence of at least 0.9, but on average they stay" in content


def test_every_level_has_its_communities_colors_and_labels(monkeypatch):
    fine = np.arange(60) // 5
    give_scales(monkeypatch, fine // 3)
    partition = kg.detect_communities(nx.ring_of_cliques(12, 5))
    graph, levels = partition.graph, partition.levels()
    data = data_of(page_content(partition, graph).decode())
    assert (len(data["levels"]), data["returned"]) == (2, 0)
    for held, level in zip(data["levels"], levels, strict=True):
        assert unpacked(held["community"], "u4").tolist() == level.labels.tolist()
        communities = held["communities"]
        assert communities["size"] == level.sizes.tolist()
        assert sum(communities["inside"]) + sum(communities["leaving"]) // 2 == graph.m
        assert len(held["colorOf"]) == len(communities["members"]) == held["k"] == level.k
        assert max(held["links"]["a"] + held["links"]["b"]) < level.k
    # Confidence is known for the partition alone.
    assert [held["confidence"] is None for held in data["levels"]] == [False, True]
    assert ["confidence" in held["communities"] for held in data["levels"]] == [True, False]
    # The returned level is the same without the others.
    alone = data_of(page_content(partition, graph, levels=False).decode())
    assert alone == {**data, "levels": data["levels"][:1]}


def test_known_levels_are_shown_at_any_size(monkeypatch):
    calls = give_scales(monkeypatch, np.arange(60) // 15)
    partition = kg.detect_communities(nx.ring_of_cliques(12, 5))
    small = PageLimits(computed=1, levels=1)
    assert (
        len(data_of(page_content(partition, partition.graph, limits=small).decode())["levels"]) == 1
    )
    assert not calls
    partition.levels()
    assert (
        len(data_of(page_content(partition, partition.graph, limits=small).decode())["levels"]) == 2
    )


def test_the_report_of_a_level_starts_with_it(monkeypatch):
    give_scales(monkeypatch, np.arange(60) // 15)
    coarse = kg.detect_communities(nx.ring_of_cliques(12, 5)).levels()[1]
    data = data_of(page_content(coarse, coarse.graph).decode())
    assert (data["returned"], [level["k"] for level in data["levels"]]) == (1, [12, 4])


def test_scores_are_computed_once(partition, monkeypatch):
    calls = []
    scores = Partition.scores
    monkeypatch.setattr(Partition, "scores", lambda self: calls.append(self) or scores(self))
    page_content(partition, partition.graph)
    assert calls == [partition]


@pytest.mark.parametrize("singles", [0, 3])
@pytest.mark.parametrize("cliques", [4, 20])
def test_communities_have_the_colors_of_the_plots(cliques, singles):
    graph = nx.ring_of_cliques(cliques, 3)
    graph.add_nodes_from(f"single {i}" for i in range(singles))
    labels = np.concatenate([np.arange(3 * cliques) // 3, cliques + np.arange(singles)])
    given = Partition(labels, graph=kg.as_graph(graph))
    data = graph_figures(given, given.graph, None, PageLimits())
    level = level_of(data)
    shown = [level["palette"][c] for c in level["colorOf"]]
    plotted = np.round(partition_colors(given) * 255).astype(int)
    # Single nodes have one color, and one entry.
    plotted = plotted[: cliques + min(singles, 1)]
    assert shown == ["#{:02x}{:02x}{:02x}".format(*row) for row in plotted]


def test_single_nodes_are_one_group():
    graph = nx.ring_of_cliques(3, 4)
    # Alone, or linked to a community and to each other.
    graph.add_nodes_from(f"single {i}" for i in range(80))
    graph.add_edges_from([("single 0", 0), ("single 1", 0), ("single 0", "single 1")])
    labels = np.concatenate([np.arange(12) // 4, 3 + np.arange(80)])
    given = Partition(labels, graph=kg.as_graph(graph))
    confidence = np.concatenate([np.ones(12), np.full(80, 0.5)])
    level = level_of(graph_figures(given, given.graph, None, PageLimits()))
    assert (level["k"], level["several"]) == (83, 3)
    communities = level["communities"]
    assert communities["size"] == [4, 4, 4, 80]
    assert communities["inside"] == [6, 6, 6, 0]
    assert communities["leaving"] == [4, 2, 2, 4]
    assert communities["conductance"][3] is None
    assert communities["members"][3][:2] == ["single 0", "single 1"]
    assert {len(values) for values in communities.values()} == {4}
    assert max(level["links"]["a"] + level["links"]["b"]) < 3
    limits = PageLimits(nodes=10)
    sure = level_of(graph_figures(given, given.graph, confidence, limits))["communities"]
    assert sure["confidence"] == [1.0, 1.0, 1.0, 0.5]
    # Each node keeps its community.
    assert unpacked(level["community"], "u4").tolist() == labels.tolist()
    text = page_content(given, given.graph, spectrum=False, confidence=False).decode()
    assert "<dt>communities</dt><dd>3</dd>" in text
    assert "<dt>single nodes</dt><dd>80</dd>" in text


def test_the_title_is_that_of_the_graph_unless_one_is_given(tmp_path):
    def heading(graph, **options):
        found = kg.detect_communities(graph, **options)
        return re.search("<h1>(.*?)</h1>", page_content(found, found.graph).decode())[1]

    assert heading(nx.karate_club_graph(), weight=None) == "Zachary&#x27;s Karate Club"
    assert heading(nx.path_graph(4)) == "Communities of 4 nodes"
    assert heading(kg.datasets.load("karate").graph, weight=None) == "karate"
    named = kg.as_graph(nx.path_graph(4)).to_igraph()
    named["name"] = "a path"
    assert heading(named) == "a path"
    named["name"] = 3
    assert heading(named) == "Communities of 4 nodes"
    (tmp_path / "friends.csv").write_text("a,b\nb,c\n")
    assert heading(tmp_path / "friends.csv") == "friends.csv"
    found = kg.detect_communities(nx.karate_club_graph())
    assert "<h1>Ours</h1>" in page_content(found, found.graph, title="Ours").decode()


def test_links_are_the_pairs_with_the_most_edges():
    graph = nx.Graph([(0, 1), (2, 3), (4, 5), (6, 7)])
    # Edges between communities count, whatever their weights and however they are given.
    graph.add_edges_from([(2, 0), (1, 3), (3, 0), (5, 2), (4, 3), (4, 0)], weight=2.5)
    given = Partition(np.arange(8) // 2, graph=kg.as_graph(graph))
    data = graph_figures(given, given.graph, None, PageLimits(links=2))
    assert level_of(data)["links"] == {"a": [0, 1], "b": [1, 2], "count": [3, 2], "total": 3}


def test_labels_that_were_given_and_k_that_was_given():
    graph = kg.as_graph(nx.barbell_graph(6, 0))
    given = Partition([0] * 6 + [1] * 6, graph=graph)
    assert "by the labels given" in page_content(given, graph).decode()
    wanted = kg.detect_communities(graph, 3)
    assert "as many as were asked for" in page_content(wanted, graph).decode()


def test_warnings_are_shown():
    grid = kg.detect_communities(nx.grid_2d_graph(20, 20))
    with pytest.warns(CrowdedThresholdWarning):
        grid.spectrum  # noqa: B018  (computed here)
    text = page_content(grid, grid.graph).decode()
    box = re.search(r'class="warnings".*?</section>', text, re.DOTALL)[0]
    for warning in (*grid.spectrum.warnings, *grid.report.warnings):
        assert html.escape(str(warning)) in box
    # Two pieces in one community, and a component without signal.
    apart = nx.disjoint_union(nx.complete_graph(5), nx.path_graph(3))
    one = kg.detect_communities(apart, 1)
    text = page_content(one, one.graph).decode()
    assert "1 community is not connected." in text
    assert "3 nodes lie in components without signal" in text


@pytest.mark.parametrize("graph", [nx.empty_graph(0), nx.empty_graph(3), nx.path_graph(2)])
def test_graphs_without_anything_to_find(graph):
    found = kg.detect_communities(graph)
    assert data_of(page_content(found, found.graph).decode())["n"] == len(graph)


def test_to_html_writes_one_file_whole(partition, tmp_path):
    partition.to_html(tmp_path / "report.HTML", title="t")
    assert [path.name for path in tmp_path.iterdir()] == ["report.HTML"]
    assert (tmp_path / "report.HTML").read_bytes() == page_content(
        partition, partition.graph, title="t"
    )


def test_a_page_that_cannot_be_written_is_refused_before_any_work(partition, tmp_path, monkeypatch):
    monkeypatch.setattr("kgroups.page.page_content", lambda *a, **k: pytest.fail("no work yet"))
    with pytest.raises(InputError, match=r"must end in \.html or \.htm; got .*report\.pdf'"):
        partition.to_html(tmp_path / "report.pdf")
    with pytest.raises(InputError, match=r"there is no folder '.*absent' to write '.*r.html' into"):
        partition.to_html(tmp_path / "absent" / "r.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match="is a folder, not a file"):
        partition.to_html(tmp_path / "folder.html")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match=r"written into the folder .* it is read-only"):
        partition.to_html(tmp_path / "r.html")
    with pytest.raises(PartitionError, match=r"to_html\(\) needs the graph"):
        Partition([0, 1]).to_html(tmp_path / "r.html")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]
