"""The benchmark on real networks: Phi of any labels, what is best known, and the summary."""

import multiprocessing
import sys
from dataclasses import replace
from math import lgamma, log

import numpy as np
import pytest

import kgroups as kg
from benchmarks import figure, peers, real
from benchmarks.graphs import BenchmarkGraph, largest_component
from benchmarks.journal import Journal
from benchmarks.measure import Outcome, Run, fastest
from benchmarks.peers import CONVERGED, PEERS, REFERENCE, Found
from benchmarks.scores import Phi, Scores
from benchmarks.suites import ROWS
from helpers.data import needs

KARATE = ROWS["karate"].graph(0)


def with_isolated_and_triangle(graph):
    """Return a graph beside an isolated node and a triangle, its nodes from 1 on."""
    n = graph.n
    return replace(
        graph,
        n=n + 4,
        source=np.concatenate([graph.source + 1, [n + 1, n + 2, n + 3]]),
        target=np.concatenate([graph.target + 1, [n + 2, n + 3, n + 1]]),
        truth=np.concatenate([[7], graph.truth, [8, 8, 8]]),
        known=np.concatenate([[False], np.ones(n + 3, dtype=bool)]),
    )


def phi_by_definition(graph, z):
    n, m, k = graph.n, graph.m, np.unique(z).size
    degrees = np.bincount(np.concatenate([graph.source, graph.target]), minlength=n)
    total, E_out, P_out = 0.0, float(m), float(m)
    for c in np.unique(z):
        E = float(np.count_nonzero((z[graph.source] == c) & (z[graph.target] == c)))
        N, P = int(np.count_nonzero(z == c)), degrees[z == c].sum() ** 2 / (4.0 * m)
        total += E * log(E / P) - E + P if E > P else 0.0
        total += lgamma(N + 1) - log(min(N * (N - 1) / 2, m) + 1.0)
        E_out, P_out = E_out - E, P_out - P
    if 0.0 < E_out < P_out:
        total += E_out * log(E_out / P_out) - E_out + P_out
    compositions = lgamma(n) - lgamma(k) - lgamma(n - k + 1)
    return total - lgamma(n + 1) - compositions + lgamma(k + 1)


def phi_of(graph):
    return Phi(kg.Graph.from_edges(graph.source, graph.target, n=graph.n))


@pytest.mark.parametrize("labels", [KARATE.truth, np.arange(34) % 5 + 10], ids=["truth", "any"])
def test_phi_is_what_its_definition_says(labels):
    assert phi_of(KARATE)(labels) == pytest.approx(phi_by_definition(KARATE, labels), rel=1e-9)


def test_phi_is_summed_over_components_whatever_labels_do_across():
    beside = with_isolated_and_triangle(KARATE)
    apart = np.concatenate([[9], KARATE.truth, [5, 5, 5]])
    across = np.concatenate([[0], KARATE.truth, [1, 1, 1]])
    alone = phi_of(KARATE)(KARATE.truth)
    assert phi_of(beside)(apart) == pytest.approx(alone)
    assert phi_of(beside)(across) == pytest.approx(alone)
    assert phi_of(beside)(np.zeros(38, dtype=int)) == 0.0


def test_the_largest_component_keeps_its_edges_and_labels():
    kept = largest_component(with_isolated_and_triangle(KARATE))
    assert (kept.n, kept.m, kept.true_k) == (34, 78, 2)
    assert np.array_equal(kept.source, KARATE.source)
    assert np.array_equal(kept.truth, KARATE.truth)
    assert kept.known.all()
    assert largest_component(KARATE) is KARATE


def test_the_fastest_call_of_a_run_counts():
    times = iter([3.0, 1.0, 2.0])
    calls = []

    def find():
        calls.append(1)
        return Found(np.zeros(2), seconds=next(times, 5.0))

    assert fastest(find, 0.0)[1] == 3.0
    assert len(calls) == 1
    assert fastest(find, 0.01)[1] == 1.0


@pytest.mark.compiled
def test_a_long_search_reaches_what_is_known_of_a_ring_of_cliques():
    edges = np.array([(5 * c + i, 5 * c + j) for c in range(8) for i in range(5) for j in range(i)])
    bridges = np.array([(5 * c, (5 * c + 6) % 40) for c in range(8)])
    source, target = np.concatenate([edges, bridges]).T
    ring = BenchmarkGraph("ring", 40, source, target, None)
    best = real.long_search(ring, 3)
    assert best.k == 8
    assert best.phi == pytest.approx(phi_by_definition(ring, np.arange(40) // 5))


def test_what_is_best_known_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "best.csv"
    assert real.read_best(path) == {}
    best = {"polbooks": real.Best(157.05, 4), "karate": real.Best(0.0, 1)}
    real.write_best(best, path)
    assert path.read_text().splitlines()[:2] == ["graph,phi,k", "karate,0.0000,1"]
    assert real.read_best(path) == best


def test_something_is_known_of_every_network():
    assert set(real.read_best()) == set(real.NAMES)


def test_every_network_is_in_one_family_and_in_the_table_or_an_npz_file():
    families = [name for family in real.FAMILY_NAMES for name in real.SETS[family]]
    assert sorted(families) == sorted(real.NAMES)
    assert (*real.SETS["table"], *real.SETS["npz"]) == real.NAMES
    assert len(real.SETS["npz"]) == 53
    assert set(real.NAMED) <= set(real.NAMES)


def outcome(peer, phis, *, seconds=1.0, ami=None, visits=None):
    scores = [Scores(k=3, modularity=0.5, phi=phi, ami=ami) for phi in phis]
    true_k = None if ami is None else 2
    return Outcome(
        peer, [Run(10, 20, true_k, seconds, None, visits, "", score) for score in scores]
    )


@pytest.fixture
def compared():
    first = real.Compared(
        "first",
        10,
        (
            outcome("kgroups-in-full", [9.0, 11.0], seconds=3.0, ami=0.5),
            outcome("kgroups-search", [20.0], seconds=2.0, ami=0.25),
            outcome(REFERENCE, [12.0], ami=0.75),
        ),
        real.Best(40.0, 4),
    )
    second = real.Compared(
        "second",
        100,
        (
            outcome("kgroups-in-full", [50.0], seconds=1.0),
            outcome("kgroups-search", [50.0], seconds=8.0),
            outcome(REFERENCE, [50.0 + 1e-9]),
        ),
        None,
    )
    return [first, second]


def test_the_summary_says_where_peers_are_ahead(compared, capsys):
    real.print_summary(compared, ["kgroups-in-full", "kgroups-search", REFERENCE])
    said = capsys.readouterr().out
    assert "2 graphs, 1 of them with labels" in said
    assert f"kgroups-in-full: behind a peer in Phi on 1 of 2 graphs\n  first: {REFERENCE}\n" in said
    assert "kgroups-search: behind a peer in Phi on 0 of 2 graphs" in said


@pytest.mark.parametrize(
    ("own", "other", "behind"),
    [(10.0, 10.9, False), (10.0, 11.1, True), (9_992.0, 10_000.0, False), (9_989.0, 1e4, True)],
)
def test_a_nat_or_a_thousandth_is_not_behind(own, other, behind):
    outcomes = (outcome("kgroups", [own]), outcome(REFERENCE, [other]))
    one = real.Compared("karate", 34, outcomes, None)
    assert one.ahead_of("kgroups") == ([REFERENCE] if behind else [])


@pytest.fixture
def networks():
    """Two labeled networks of one family, one of them shown whole too, and one of another."""
    labeled = {"ami": 0.5, "visits": 100}
    return [
        real.Compared(
            "karate",
            34,
            (
                outcome("kgroups", [40.0], **labeled),
                outcome("kgroups-in-full", [50.0], **labeled),
                outcome("kgroups-search", [60.0], ami=0.25),
            ),
            real.Best(80.0, 2),
        ),
        real.Compared("karate (whole)", 34, (outcome("kgroups", [1.0], ami=0.0),), None),
        real.Compared(
            "dolphins",
            62,
            (
                outcome("kgroups-in-full", [20.0], ami=0.7, visits=1_600),
                outcome("kgroups-search", [22.0], ami=0.75),
                outcome(CONVERGED, [30.0], ami=1.0),
            ),
            real.Best(20.0, 2),
        ),
        real.Compared("polblogs", 1222, (outcome("kgroups", [6e3], **labeled),), None),
    ]


def test_families_have_a_line_each_and_a_network_counts_once(networks):
    lines = real.family_lines(networks)
    assert lines == [
        ["classics", "2", "2", "0.500", "0.600", "0.500", "1.000", "-", "1", "1", "20.0", "-"],
        ["web", "1", "1", "0.500", "-", "-", "-", "-", "0", "0", "-", "-"],
        ["all", "3", "3", "0.500", "0.600", "0.500", "1.000", "-", "1", "1", "20.0", "-"],
    ]
    assert all(len(line) == len(real.FAMILIES) for line in lines)


def test_the_summary_compares_phi_and_names_networks(networks):
    assert real.summary(networks) == [
        "mean AMI on 2 labeled networks of the README's table: kgroups 0.500, kgroups-in-full "
        "0.600, kgroups-search 0.500, igraph-leiden-converged 1.000, infomap -",
        "mean AMI on 1 labeled networks of npz files: kgroups 0.500, kgroups-in-full -, "
        "kgroups-search -, igraph-leiden-converged -, infomap -",
        "Phi of kgroups-search beside the best known, 2 networks: mean -7.50 % (gains counted as "
        "0: -12.50 %), worst -25.00 % (karate)",
        "visits of kgroups, geometric mean: 5.0 per edge, 2.5 per entry of the matrix, which has "
        "each edge twice",
        "visits of kgroups-in-full, geometric mean: 20.0 per edge, 10.0 per entry of the matrix, "
        "which has each edge twice",
        "karate: Phi of kgroups-in-full 50.0, of kgroups-search 60.0 >= n = 34",
        "kgroups on karate: k 3, AMI 0.500",
        "kgroups-in-full on karate: k 3, AMI 0.500",
        "kgroups-in-full on dolphins: k 3, AMI 0.700",
        "kgroups on polblogs: k 3, AMI 0.500",
    ]


def test_a_journal_gives_back_what_was_written_for_the_same_runs(tmp_path):
    path = tmp_path / "runs.jsonl"
    journal = Journal(path, repeat=1, seed=0)
    old, new = outcome("kgroups", [1.0], visits=7), outcome("kgroups", [2.0], ami=0.5)
    late = Outcome("infomap", [], "more than 9 s")
    for one in (old, late, new):
        journal.append("karate", one)
    with path.open("a") as file:
        file.write('{"graph": "karate", "met')
    again = Journal(path, repeat=1, seed=0)
    assert again.get("karate", "kgroups") == new
    assert again.get("karate", "infomap") == late
    assert again.get("dolphins", "kgroups") is None
    assert path.read_text().endswith("}\n")
    assert Journal(path, repeat=3, seed=0).get("karate", "kgroups") is None
    assert Journal(None, repeat=1, seed=0).get("karate", "kgroups") is None


def test_only_methods_that_the_journal_lacks_or_that_are_fresh_are_measured(
    tmp_path, monkeypatch, capsys
):
    class Counting(real.Contest):
        def measure(self, graphs, *, repeat, seed, peers):
            measured.append(peers)
            return [outcome(peer, [float(len(measured))]) for peer in peers]

    monkeypatch.setattr(real, "Contest", Counting)
    measured = []
    common = ["--graphs", "karate", "--journal", str(tmp_path / "runs.jsonl"), "--peers"]
    real.main([*common, REFERENCE])
    real.main([*common, REFERENCE, "kgroups"])
    real.main([*common, REFERENCE, "kgroups", "--fresh", "kgroups"])
    assert measured == [[REFERENCE], ["kgroups"], ["kgroups"]]
    capsys.readouterr()
    real.main([*common, REFERENCE, "kgroups"])
    phis = [line.split()[6] for line in capsys.readouterr().out.splitlines() if " 20 " in line]
    assert phis == ["1.0", "3.0"]


def test_a_family_names_its_networks():
    assert real._arguments(["--graphs", "contact", "as"]).graphs == {
        "as",
        "iceland",
        "school-day-1",
        "school-day-2",
        "sociopatterns-infectious",
    }


@needs("school-day-1")
def test_a_network_of_an_npz_file_is_shown_with_its_labels():
    ((graph, kept_as),) = real.shown(["school-day-1"], whole=False)
    assert (graph.n, graph.m, graph.true_k, kept_as) == (236, 5899, 11, "school-day-1")


def test_the_summary_has_a_line_for_each_method(compared):
    lines = real.summary_lines(compared, ["kgroups-in-full", "kgroups-search", REFERENCE])
    assert lines == [
        ["kgroups-in-full", "0.5000", "25.00", "1 of 2", "2.00", "3.00"],
        ["kgroups-search", "0.2500", "50.00", "1 of 2", "5.00", "8.00"],
        [REFERENCE, "0.7500", "30.00", "1 of 2", "1.00", "1.00"],
    ]


def points(collection):
    return [tuple(point) for point in collection.get_offsets().data.tolist()]


def test_the_figure_has_a_row_per_labeled_network_and_a_mark_per_method():
    def measured(peer, ami, seconds, true_k=3):
        scores = Scores(k=3, modularity=0.5, ami=ami)
        return Outcome(peer, [Run(1_200, 20, true_k, seconds, None, None, "", scores)])

    rows = [
        ("first", [measured("kgroups", 0.5, 0.25), measured(REFERENCE, -0.25, 0.5)]),
        ("unlabeled", [measured("kgroups", None, 1.0, None), measured(REFERENCE, None, 1.0, None)]),
        ("second", [measured("kgroups", 1.0, 2.0), Outcome(REFERENCE, [], "more than 9 s")]),
    ]
    picture = figure.side_by_side(rows, ["kgroups", REFERENCE])
    agreement, time = picture.axes
    names = [text.get_text() for text in agreement.get_yticklabels()]
    assert names == [f"{name}\n1,200 nodes, true k = 3" for name in ("first", "second")]
    up, down = -figure.SPREAD / 2, figure.SPREAD / 2
    assert [points(marks) for marks in agreement.collections] == [
        [(0.5, up), (1.0, 1 + up)],
        [(-0.25, down)],
    ]
    assert [points(marks) for marks in time.collections] == [
        [(250.0, up), (2000.0, 1 + up)],
        [(500.0, down)],
    ]
    assert time.get_xscale() == "log"
    assert agreement.get_xlim()[0] < -0.25
    (legend,) = picture.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == [PEERS["kgroups"].settings, PEERS[REFERENCE].settings]


def test_marks_of_methods_differ_in_color_and_shape():
    styles = [figure.mark(place) for place in range(len(real.METHODS))]
    assert len({tuple(style["color"][0]) for style in styles}) == len(styles)
    assert len({style["marker"] for style in styles}) == len(styles)


def test_nothing_is_measured_for_a_figure_that_cannot_be_drawn(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(real, "compare", lambda *_: pytest.fail("measured"))
    with pytest.raises(kg.errors.MissingExtraError, match="matplotlib"):
        real.main(["--figure", str(tmp_path / "real.png")])


def test_a_figure_without_labeled_networks_is_refused():
    with pytest.raises(SystemExit, match="no network with labels"):
        figure.side_by_side([("first", [outcome("kgroups", [1.0])])], ["kgroups"])


@pytest.mark.compiled
def test_the_command_prints_karate_and_writes_it(tmp_path, capsys):
    path, markdown, drawn = (tmp_path / name for name in ("table.csv", "table.md", "real.png"))
    methods = ["kgroups-search", REFERENCE]
    files = ["--csv", str(path), "--markdown", str(markdown), "--figure", str(drawn)]
    real.main(["--graphs", "karate", "--repeat", "1", *files, "--peers", *methods])
    first, _, karate, means = markdown.read_text().splitlines()[:4]
    assert first == f"| graph | n | m | true k | kgroups-search | {REFERENCE} |"
    assert karate.startswith("| karate | 34 | 78 | 2 | 1, 0.000, ")
    assert means.endswith(", 1.00 |")
    assert drawn.read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    assert "1 graphs, 1 of them with labels" in said
    header, *lines = (line.split(",") for line in path.read_text().splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [row["method"] for row in rows] == methods
    assert rows[1]["/ igraph-leiden"] == "1.00"
    assert float(rows[0]["Phi"]) >= float(rows[1]["Phi"])


def test_other_processes_compute_beside_the_runs(monkeypatch, capsys):
    before, running = set(multiprocessing.active_children()), set()

    def compare(*_):
        running.update(set(multiprocessing.active_children()) - before)
        return []

    monkeypatch.setattr(real, "compare", compare)
    real.main(["--busy", "2", "--peers", REFERENCE])
    assert "in turns beside 2 processes that compute" in capsys.readouterr().out
    assert len(running) == 2
    assert not any(process.is_alive() for process in running)


FAKE_GRAPH_TOOL = """
import numpy as np
__version__ = "9.9 (commit)"
class Graph:
    def __init__(self, directed):
        assert not directed
    def add_vertex(self, n):
        self.n = n
    def add_edge_list(self, edges):
        self.edges = np.asarray(edges)
def seed_rng(seed):
    pass
class PPBlockState:
    def __init__(self, graph):
        self.a = np.zeros(graph.n, dtype=np.int32)
        self.a[graph.edges[:, 0]] = 5
    def get_blocks(self):
        return self
def minimize_blockmodel_dl(graph, state):
    return state(graph)
"""


def test_graph_tool_runs_in_an_interpreter_of_its_own(tmp_path, monkeypatch):
    """With a stand-in for graph-tool: edges go out, labels and seconds come back."""
    package = tmp_path / "graph_tool"
    package.mkdir()
    (package / "__init__.py").write_text(FAKE_GRAPH_TOOL)
    (package / "all.py").write_text("from graph_tool import *")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(peers.GRAPH_TOOL_PYTHON, sys.executable)
    peer = PEERS["graph-tool"]
    assert peer.installed_version == "9.9"
    found = peer.find(peer.build(KARATE), 0)
    assert np.array_equal(np.flatnonzero(found.labels == 5), np.unique(KARATE.source))
    assert found.labels.size == 34
    assert 0.0 <= found.seconds < 5.0


@pytest.mark.parametrize("interpreter", ["", "no-such-python"])
def test_graph_tool_is_absent_without_its_interpreter(monkeypatch, interpreter):
    monkeypatch.setenv(peers.GRAPH_TOOL_PYTHON, interpreter)
    assert PEERS["graph-tool"].installed_version is None
