"""The benchmark on real networks: Phi of any labels, families, intervals, and how it resumes."""

import multiprocessing
import sys
from dataclasses import replace
from math import lgamma, log

import numpy as np
import pytest

import kgroups as kg
from benchmarks import figure, peers, real, resamples, unseen
from benchmarks.graphs import largest_component
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


def test_every_network_is_in_one_family():
    families = [name for names in real.FAMILIES.values() for name in names]
    assert sorted(families) == sorted(real.NAMES)
    assert len(real.NAMES) == 66
    named = {"citation", "newsgroups", "colleges", "contact", "web", "biological", "classics"}
    assert named <= set(real.FAMILIES)
    assert real._arguments(["--graphs", "contact", "as"]).graphs == {
        "as",
        "iceland",
        "school-day-1",
        "school-day-2",
        "sociopatterns-infectious",
    }


def test_unseen_networks_are_none_of_kgroups():
    known = {info.name for info in kg.datasets.describe()}
    assert not known & set(real.UNSEEN)
    assert real._arguments(["--graphs", "unseen"]).graphs == set(real.UNSEEN)
    assert not set(real._arguments([]).graphs) & set(real.UNSEEN)


def test_captions_say_on_which_networks_settings_were_chosen():
    for name, said in (("karate", "were chosen on these"), ("power", "Nothing was chosen on")):
        section, *_ = real.sections([network(name, outcome("kgroups", ami=0.5))], ["kgroups"])
        assert said in section.caption


def test_networks_of_graph_tool_lose_directions_loops_and_repeated_edges(tmp_path, monkeypatch):
    package = tmp_path / "graph_tool"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "all.py").write_text(FAKE_COLLECTION)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv(peers.GRAPH_TOOL_PYTHON, raising=False)
    row = unseen.ROWS[0]
    assert row.why_absent == "no --graph-tool PYTHON is named"
    monkeypatch.setenv(peers.GRAPH_TOOL_PYTHON, sys.executable)
    assert row.why_absent is None
    graph = row.graph(0)
    assert list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == [(0, 1), (0, 2)]
    assert graph.truth.tolist() == ["v0", "v1", "v2", "v3"]
    assert graph.n == 4
    assert unseen.ROWS[3].graph(0).truth is None


def outcome(peer, *, ami=None, phi=1.0, seconds=1.0, peak=None, k=3):
    scores = Scores(k=k, modularity=0.5, phi=phi, ami=ami)
    true_k = None if ami is None else 2
    return Outcome(peer, [Run(10, 20, true_k, seconds, peak, None, "", scores, 2.0 * seconds)])


def network(name, *outcomes, **agreements):
    resampled = {method: {"agreement": value} for method, value in agreements.items()}
    return real.Network(name, {one.peer: one for one in outcomes}, resampled)


@pytest.fixture
def networks():
    """Two labeled networks of a family and one of another; Infomap did not end on the last."""
    return [
        network(
            "karate",
            outcome("kgroups", ami=0.75, phi=4.0, seconds=4.0, peak=3_000_000),
            outcome(REFERENCE, ami=0.5, phi=2.0, seconds=2.0),
            outcome("infomap", ami=0.754, phi=-1.0, seconds=1.0),
            kgroups=0.5,
            infomap=0.75,
        ),
        network(
            "football",
            outcome("kgroups", ami=0.25, phi=5.0, seconds=6.0, peak=2_000_000),
            outcome(REFERENCE, ami=0.5, phi=10.0, seconds=2.0),
            outcome("infomap", ami=0.125, phi=10.0, seconds=2.0, k=1),
            kgroups=1.0,
            infomap=0.5,
        ),
        network(
            "polblogs",
            outcome("kgroups", ami=0.875, phi=-1.0, seconds=1.0),
            outcome(REFERENCE, ami=0.625, phi=-2.0, seconds=2.0),
            Outcome("infomap", [], "more than 9 s"),
            kgroups=0.5,
        ),
        network(
            "iceland",
            outcome("kgroups", phi=6.0),
            outcome(REFERENCE, phi=8.0),
            outcome("infomap", phi=4.0),
        ),
    ]


SHOWN = ["kgroups", REFERENCE, "infomap"]


def test_families_are_averaged_before_the_mean_over_them(networks):
    assert real.family_lines(networks, SHOWN) == [
        ["family", "labeled networks", "kgroups", "Leiden, 2 iterations", "Infomap"],
        ["classics", "2", "0.500", "0.500", "0.440"],
        ["web", "1", "0.875", "0.625", "-"],
        ["mean over families", "2", "0.688", "0.562", "0.440"],
        ["mean over networks", "3", "0.625", "0.542", "0.440 (2)"],
    ]


def test_methods_have_three_numbers_and_their_cost(networks):
    assert real.number_lines(networks, SHOWN)[1:] == [
        ["kgroups", "0.688", "0.625", "75.0", "1.50", "1.50", "3.0", "4"],
        ["Leiden, 2 iterations", "0.562", "-", "100.0", "1.00", "1.00", "-", "4"],
        ["Infomap", "0.440", "0.625", "50.0", "1.00", "1.00", "-", "3"],
    ]


def test_phi_is_in_percent_of_the_best_where_anything_is_saved(networks):
    percents = [one.percent_of_best("infomap") for one in networks]
    assert percents == [-25.0, 100.0, None, 50.0]
    assert networks[2].percent_of_best("kgroups") is None


def test_the_interval_of_two_families_has_their_means_as_bounds():
    """Drawn with replacement, two families are both the worse one with probability 1/4."""
    apart = real.difference(
        {"karate": 0.5, "football": 1.0, "polblogs": 0.5, "iceland": 0.5},
        {"karate": 0.25, "football": 0.25, "polblogs": 0.75},
    )
    assert apart.values == {"karate": 0.25, "football": 0.75, "polblogs": -0.25}
    assert apart.mean == 0.125
    assert apart.interval == (-0.25, 0.5)
    assert apart.cells() == [
        "+0.125 [-0.250, +0.500]",
        "not distinguishable",
        "1 / 1 / 0",
        "2 / 1 / 0",
    ]


def test_many_networks_of_one_family_count_once():
    cora = dict.fromkeys(real.FAMILIES["citation"], 1.0)
    assert len(cora) > 10
    apart = real.Difference({**cora, "karate": 0.0, "polblogs": -0.5, "school-day-1": -0.5})
    assert apart.mean == 0.0
    low, high = apart.interval
    assert low < 0.0 < high
    # Of four families all are -.5 with probability 1/16, and all are 1 with 1/256.
    assert low == -0.5
    assert 0.5 <= high < 1.0


def test_intervals_are_the_same_each_time_and_narrower_than_the_range():
    names = [names[0] for names in real.FAMILIES.values()]
    values = dict(zip(names, np.linspace(-0.1, 0.3, len(names)), strict=True))
    first, second = (real.Difference(values).interval for _ in range(2))
    assert first == second
    error = np.std(list(values.values())) / np.sqrt(len(names))
    assert first == pytest.approx((0.1 - 1.96 * error, 0.1 + 1.96 * error), abs=0.005)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((0.25, 0.5), "better"),
        ((-0.25, -0.5), "worse"),
        ((0.0, 0.5), "not distinguishable"),
        ((-0.5, 0.5), "not distinguishable"),
    ],
)
def test_only_an_interval_without_zero_decides(values, verdict):
    apart = real.Difference(dict(zip(("karate", "polblogs"), values, strict=True)))
    assert apart.cells()[1] == verdict


def test_a_single_family_has_no_interval():
    apart = real.Difference({"karate": 0.5, "football": 0.25})
    assert apart.cells() == ["+0.375", "a single family", "1 / 0 / 0", "2 / 0 / 0"]


def test_half_a_hundredth_is_a_tie():
    differences = {"a": 0.0051, "b": 0.0049, "c": -0.0049, "d": -0.0051, "e": -0.5}
    assert real.tally(differences) == "1 / 2 / 2"


def test_differences_are_shown_whoever_is_ahead(networks):
    lines = real.difference_lines(networks, SHOWN)
    assert [line[:3] for line in lines[1:]] == [
        ["AMI", "kgroups", "Leiden, 2 iterations"],
        ["AMI", "kgroups", "Infomap"],
        ["reproducibility", "kgroups", "Infomap"],
        ["the same, several communities", "kgroups", "Infomap"],
    ]
    apart = [line[3] for line in lines[1:]]
    assert apart == ["+0.125 [+0.000, +0.250]", "+0.060", "+0.125", "-0.250"]
    assert [line[6] for line in lines[1:]] == ["2 / 1 / 0", "1 / 0 / 1", "1 / 1 / 0", "0 / 1 / 0"]


def test_what_the_labels_have_chosen_is_compared_with_the_same():
    chosen = [peers.BEST_LEVEL, peers.BEST_RESOLUTION]
    one = network("karate", *(outcome(method, ami=0.5) for method in chosen))
    ((*pair, _, _, _, _),) = real.difference_lines([one], chosen)[1:]
    assert pair == ["AMI", "kgroups, best level †", "Leiden, best of 12 resolutions †"]
    for section in real.sections([one], chosen):
        if section.heading in ("Families", "Differences"):
            assert "† Chosen with the labels" in section.caption


class KilledError(Exception):
    pass


def test_a_killed_run_resumes_at_the_method_where_it_ended(tmp_path, monkeypatch):
    calls, patience = [], [3]

    def note(*call):
        if len(calls) == patience[0]:
            raise KilledError
        calls.append(call)

    class Counting(real.Contest):
        def measure(self, graphs, *, repeat, seed, peers):
            note(graphs[0].name, *peers)
            return [outcome(*peers, ami=0.5)]

    def on_copies(graph, seed):
        note(graph.name, "copies")
        return {"agreement": 0.5, "seconds": 1.0}

    def two(names):
        return [(ROWS[name], replace(KARATE, name=name)) for name in ("karate", "football")]

    monkeypatch.setattr(real, "shown", two)
    monkeypatch.setattr(real, "Contest", Counting)
    monkeypatch.setattr(resamples, "MEASURES", {"kgroups": on_copies})
    monkeypatch.setattr(kg, "warm", lambda progress: None)
    journal = tmp_path / "runs.jsonl"
    words = ["--peers", "kgroups", REFERENCE, "--journal", str(journal)]
    with pytest.raises(KilledError):
        real.main(words)
    with journal.open("a") as file:
        file.write('{"part": "3 runs", "gra')
    patience[0] = 7
    real.main(words)
    each = ["kgroups", "copies", REFERENCE]
    assert calls == [(name, what) for name in ("karate", "football") for what in each]
    real.main(words)
    assert len(calls) == 6
    with pytest.raises(KilledError):
        real.main([*words, "--fresh", "kgroups"])
    assert calls[6:] == [("karate", "kgroups")]
    patience[0] = 100
    real.main([*words, "--repeat", "5"])
    assert calls[7:] == [(name, what) for name in ("karate", "football") for what in each[::2]]


def test_an_outcome_is_read_as_it_was_written(tmp_path):
    for one in (outcome("kgroups", ami=0.5), Outcome("infomap", [], "more than 9 s")):
        kept = real.Kept(tmp_path / "runs.jsonl")
        which = {"part": "1 runs", "seed": 0, "method": one.peer}
        kept.record(lambda row, seed, one=one: real.asdict(one), ROWS["karate"], **which)
        again = real.Kept(tmp_path / "runs.jsonl")
        assert real.outcome_of(again.record(None, ROWS["karate"], **which)) == one


@needs("school-day-1")
def test_a_network_of_an_npz_file_is_shown_with_its_labels():
    ((row, graph),) = real.shown(["school-day-1"])
    assert (graph.n, graph.m, graph.true_k, row.name) == (236, 5899, 11, "school-day-1")


def points(axes):
    return [tuple(marks.get_offsets().data[0].tolist()) for marks in axes.collections]


def test_the_figure_has_a_panel_per_score_and_a_labeled_marker_per_method(networks):
    picture = real.picture(networks, SHOWN)
    agreement, again = picture.axes
    assert points(agreement) == [(1.5, 0.6875), (1.0, 0.5625), (1.0, pytest.approx(0.4395))]
    assert points(again) == [(1.5, 0.625), (1.0, 0.625)]
    assert [text.get_text() for text in agreement.texts] == list(map(real.title, SHOWN))
    assert [text.get_text() for text in again.texts] == ["kgroups", "Infomap"]
    assert agreement.get_xscale() == again.get_xscale() == "log"
    assert picture.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_labels_of_equal_markers_stand_apart():
    places = figure.label_places(["first", "second", "third"], [(0.5, 0.5)] * 3)
    heights = sorted(y for _, y in places)
    assert min(np.diff(heights)) > 0.04
    assert {x for x, _ in places} == {0.525}
    (alone,) = figure.label_places(["first"], [(0.25, 0.75)])
    assert alone == (0.275, 0.75)


def test_marks_of_methods_differ_in_color_and_shape():
    styles = [figure.mark(place) for place in range(len(real.METHODS))]
    assert len({tuple(style["color"][0]) for style in styles}) == len(styles)
    assert len({style["marker"] for style in styles}) == len(styles)


def test_nothing_is_measured_for_a_figure_that_cannot_be_drawn(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(real, "compare", lambda *_: pytest.fail("measured"))
    with pytest.raises(kg.errors.MissingExtraError, match="matplotlib"):
        real.main(["--figure", str(tmp_path / "real.png")])


@pytest.mark.compiled
def test_the_command_prints_karate_and_writes_it(tmp_path, capsys):
    markdown, drawn = (tmp_path / name for name in ("table.md", "real.png"))
    methods = ["kgroups", REFERENCE, CONVERGED]
    files = ["--markdown", str(markdown), "--figure", str(drawn)]
    real.main(["--graphs", "karate", "--repeat", "1", *files, "--peers", *methods])
    text = markdown.read_text()
    headings = [line for line in text.splitlines() if line.startswith("###")]
    assert headings == ["### Families", "### Methods", "### Differences", "### Networks"]
    assert "| classics | 1 | 0.8" in text
    assert "| karate | 34 | 78 | 2 | 2, 0.8" in text
    assert f"- `{REFERENCE}`: igraph Leiden, modularity, 2 iterations" in text
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert "| reproducibility | kgroups | Leiden, converged |" in text
    said = capsys.readouterr().out
    assert "mean over families" in said


def test_other_processes_compute_beside_the_runs(monkeypatch, capsys):
    before, running = set(multiprocessing.active_children()), set()

    def compare(*_):
        running.update(set(multiprocessing.active_children()) - before)
        return []

    monkeypatch.setattr(real, "compare", compare)
    monkeypatch.setattr(kg, "warm", lambda progress: None)
    real.main(["--busy", "2", "--peers", REFERENCE])
    assert "runs of each method beside 2 processes that compute" in capsys.readouterr().out
    assert len(running) == 2
    assert not any(process.is_alive() for process in running)


FAKE_COLLECTION = """
from types import SimpleNamespace
import numpy as np
class Graph:
    vp = {"value": [f"v{i}" for i in range(4)]}
    def vertices(self):
        return range(4)
    def num_vertices(self):
        return 4
    def get_edges(self):
        return np.array([[1, 0, 7], [0, 1, 7], [2, 0, 7], [3, 3, 7]])
collection = SimpleNamespace(data={"adjnoun": Graph(), "power": Graph()})
"""

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
    def __init__(self, graph, label=5):
        self.a = np.zeros(graph.n, dtype=np.int32)
        self.a[graph.edges[:, 0]] = label
    def get_blocks(self):
        return self
class Nested:
    def __init__(self, graph):
        self.graph = graph
    def get_levels(self):
        return [PPBlockState(self.graph, 7), None]
def minimize_blockmodel_dl(graph, state):
    return state(graph)
def minimize_nested_blockmodel_dl(graph):
    return Nested(graph)
"""


@pytest.mark.parametrize(("model", "label"), [("pp", 5), ("nested", 7)])
def test_graph_tool_runs_in_an_interpreter_of_its_own(tmp_path, monkeypatch, model, label):
    """With a stand-in for graph-tool: edges go out, labels and the cost come back."""
    package = tmp_path / "graph_tool"
    package.mkdir()
    (package / "__init__.py").write_text(FAKE_GRAPH_TOOL)
    (package / "all.py").write_text("from graph_tool import *")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(peers.GRAPH_TOOL_PYTHON, sys.executable)
    peer = PEERS[f"graph-tool-{model}"]
    assert peer.installed_version == "9.9"
    found = peer.find(peer.build(KARATE), 0)
    assert np.array_equal(np.flatnonzero(found.labels == label), np.unique(KARATE.source))
    assert found.labels.size == 34
    assert 0.0 <= found.seconds < 5.0
    assert 0.0 <= found.cpu_seconds < 5.0
    assert found.peak_bytes is None or 0 <= found.peak_bytes < 10**8
    assert not peer.fills_caches


def test_graph_tool_runs_up_to_a_hundred_thousand_edges():
    peer = PEERS["graph-tool-nested"]
    ends = np.arange(100_001)
    assert peer.runs_on(replace(KARATE, source=ends[1:], target=ends[1:]))
    assert not peer.runs_on(replace(KARATE, source=ends, target=ends))
    assert "up to 100,000 edges" in peer.settings


@pytest.mark.parametrize("interpreter", ["", "no-such-python"])
def test_graph_tool_is_absent_without_its_interpreter(monkeypatch, interpreter):
    monkeypatch.setenv(peers.GRAPH_TOOL_PYTHON, interpreter)
    assert PEERS["graph-tool-pp"].installed_version is None
