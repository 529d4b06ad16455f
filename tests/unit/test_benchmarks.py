"""The benchmark harness: its graphs are what they claim, its timer gives up when told to."""

from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import growth, memory, peers, real, table, targets
from benchmarks.graphs import (
    BenchmarkGraph,
    degree_corrected,
    erdos_renyi,
    hierarchy,
    own_lfr,
    planted_partition,
    power_law_null,
)
from benchmarks.measure import Contest, Outcome, Run, _Worker
from benchmarks.peers import (
    BEST_LEVEL,
    BEST_RESOLUTION,
    CONVERGED,
    CPM,
    CPM_SIZES,
    LARGE_GRAPH_PEERS,
    PEERS,
    REFERENCE,
    RESOLUTIONS,
)
from benchmarks.scores import Scorer, Scores
from benchmarks.suites import ROWS, SUITES, drawn
from kgroups import metrics

# All but the script that another interpreter runs.
MODULES = {file.stem for file in Path(memory.__file__).parent.glob("*.py")} - {"graph_tool_script"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_benchmark_can_be_imported(name):
    assert import_module(f"benchmarks.{name}").__doc__


def codes_of_pairs(graph):
    low = np.minimum(graph.source, graph.target)
    high = np.maximum(graph.source, graph.target)
    assert (low < high).all()
    return low * graph.n + high


@pytest.fixture(scope="module")
def planted():
    return planted_partition("planted", n=3_000, k=6, degree=12.0, snr=1.5, seed=0)


def test_planted_partition_is_simple(planted):
    assert np.unique(codes_of_pairs(planted)).size == planted.m


def test_planted_groups_are_equal_and_shuffled(planted):
    assert np.bincount(planted.truth).tolist() == [500] * 6
    assert np.unique(planted.truth[:500]).size == 6


def test_planted_edge_counts_are_within_five_standard_deviations(planted):
    a, b = 12 + 1.5 * 5 * np.sqrt(12), 12 - 1.5 * np.sqrt(12)
    inside = np.count_nonzero(planted.truth[planted.source] == planted.truth[planted.target])
    expected_inside, expected_across = a / 3_000 * 6 * 500 * 499 / 2, b / 3_000 * 15 * 500**2
    assert abs(inside - expected_inside) < 5 * np.sqrt(expected_inside)
    assert abs(planted.m - inside - expected_across) < 5 * np.sqrt(expected_across)


def test_planted_partition_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="snr at most sqrt"):
        planted_partition("planted", n=100, k=2, degree=4.0, snr=2.1, seed=0)
    with pytest.raises(ValueError, match="n must be a multiple of k"):
        planted_partition("planted", n=101, k=2, degree=4.0, snr=1.0, seed=0)


@pytest.mark.parametrize("degree", [3, 20])
@pytest.mark.parametrize("exponent", [2.1, 3.0])
def test_power_law_nulls_are_simple_and_have_their_mean_degree(degree, exponent):
    null = power_law_null("null", n=5_000, degree=degree, exponent=exponent, seed=1)
    degrees = np.bincount(np.concatenate([null.source, null.target]), minlength=null.n)
    assert np.unique(codes_of_pairs(null)).size == null.m
    assert abs(degrees.mean() - degree) < 5 * degrees.std() / np.sqrt(null.n)
    assert degrees.max() > 8 * degree
    assert null.is_null
    assert null.true_k is None


def test_erdos_renyi_is_simple_and_has_its_mean_degree():
    null = erdos_renyi("null", n=4_000, degree=6, seed=1)
    assert np.unique(codes_of_pairs(null)).size == null.m
    assert abs(null.m - 12_000) < 5 * np.sqrt(12_000)


@pytest.mark.parametrize(
    "graph",
    [
        degree_corrected("dcsbm", n=3_000, k=6, degree=15.0, snr=2.0, seed=1),
        own_lfr("lfr", n=3_000, degree=15, mixing=0.3, seed=1),
    ],
    ids=["dcsbm", "lfr"],
)
def test_edges_prefer_the_true_groups_and_node_numbers_do_not_tell_them(graph):
    truth = graph.truth
    inside = np.mean(truth[graph.source] == truth[graph.target])
    assert inside > 0.5
    assert np.mean(truth[1:] == truth[:-1]) < 0.3
    degrees = np.bincount(np.concatenate([graph.source, graph.target]), minlength=graph.n)
    assert degrees.max() > 3 * degrees.mean()


def test_every_suite_names_its_rows_apart():
    for rows in SUITES.values():
        assert len({row.name for row in rows}) == len(rows)


def test_the_large_suite_holds_each_family():
    names = {row.name for row in SUITES["large"]}
    assert {
        "lfr-100k-d10-mu0.65",
        "lfr-10k-d20-mu0.3",
        "binomial-100k-d20-mu0.5",
        "sbm-100k-k2-d5-snr1.3",
        "sbm-10k-k200-d20-snr3",
        "dcsbm-100k-k200-d20-snr2.5",
        "er-1k-d3",
        "config-100k-d20-exp2.1",
        "musae-facebook",
    } <= names


def test_a_row_draws_other_graphs_from_other_seeds():
    first, second = drawn([ROWS["sbm-1k"]], 5, 2)
    again = ROWS["sbm-1k"].graph(6)
    assert not np.array_equal(first.truth, second.truth)
    assert np.array_equal(second.source, again.source)


def test_bundled_and_drawn_graphs_are_always_there():
    assert ROWS["karate"].why_absent is None
    assert ROWS["sbm-1k"].why_absent is None


def test_absent_files_are_named_as_the_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "KGROUPS_DATA" in ROWS["football"].why_absent


def test_karate_is_the_known_graph_without_weights():
    karate = ROWS["karate"].graph(0)
    assert (karate.n, karate.m, karate.true_k) == (34, 78, 2)


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peer_labels_every_node(name):
    peer = PEERS[name]
    if peer.installed_version is None:
        pytest.skip(f"{peer.distribution} is not installed")
    if name == CPM:
        clear = own_lfr("clear", n=1_000, degree=15, mixing=0.3, seed=0)
    else:
        clear = planted_partition("clear", n=120, k=4, degree=12.0, snr=3.0, seed=0)
    assert peer.runs_on(clear)
    labels = peer.find(peer.build(clear), 0).labels
    assert len(labels) == clear.n
    assert 1 < np.unique(labels).size < 30


class Recorded:
    """An igraph graph of six nodes and nine edges that answers Leiden with given labels."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls = []

    def vcount(self):
        return 6

    def ecount(self):
        return 9

    def edge_attributes(self):
        return []

    def community_leiden(self, **options):
        self.calls.append(options)
        self.membership = self.answers.pop(0)
        return self


@pytest.mark.parametrize(
    ("name", "iterations", "said"),
    [(REFERENCE, 2, "modularity, 2 iterations"), (CONVERGED, -1, "modularity, until nothing")],
)
def test_leiden_runs_as_its_caption_says(name, iterations, said):
    graph = Recorded([0, 0, 0, 1, 1, 1])
    PEERS[name].find(graph, 0)
    (call,) = graph.calls
    assert call.pop("resolution", 1.0) == 1.0
    assert call.pop("weights", None) is None
    assert call == {"objective_function": "modularity", "n_iterations": iterations}
    assert said in table.description(name)


def test_cpm_is_the_best_run_of_its_grid_with_the_time_of_that_run(monkeypatch):
    whole, halves, thirds = [0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    uneven, single = [0, 0, 1, 1, 2, 3], [0, 1, 2, 3, 4, 5]
    graph = Recorded(whole, whole, whole, halves, thirds, uneven, single, thirds)
    times = iter(tick for start in range(12) for tick in (start, start + 0.01 * (start + 1)))
    monkeypatch.setattr(peers, "perf_counter", lambda: next(times))
    found = PEERS[CPM].find((graph, partial(metrics.ami, thirds)), 0)
    assert found.labels.tolist() == thirds
    assert found.seconds == pytest.approx(0.05)
    assert found.note == f"resolution d/{CPM_SIZES[4]}"
    # The mean degree is 3, and the grid ends with the second run that is worse than the best.
    assert [call["resolution"] for call in graph.calls] == [3 / size for size in CPM_SIZES[:7]]
    assert all(call["objective_function"] == "CPM" for call in graph.calls)
    assert all(call["n_iterations"] == -1 for call in graph.calls)


def test_the_caption_of_cpm_states_its_grid_and_that_the_truth_chose():
    ratios = np.divide(CPM_SIZES[:-1], CPM_SIZES[1:])
    assert ratios == pytest.approx(np.sqrt(2), rel=2e-3)
    said = PEERS[CPM].settings
    assert "12 values of s from 16000 to 354 by factors of the square root of 2" in said
    assert "with the truth in hand; the time is that of the one best run" in said
    assert len(CPM_SIZES) == PEERS[CPM].trials == 12


def test_the_best_resolution_is_chosen_by_the_labels_with_the_time_of_that_run(monkeypatch):
    halves, thirds, single = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5]
    graph = Recorded(*[halves] * 5, thirds, *[single] * 6)
    times = iter(tick for start in range(12) for tick in (start, start + 0.01 * (start + 1)))
    monkeypatch.setattr(peers, "perf_counter", lambda: next(times))
    found = PEERS[BEST_RESOLUTION].find((graph, partial(metrics.ami, thirds)), 0)
    assert found.labels.tolist() == thirds
    assert found.seconds == pytest.approx(0.06)
    assert [call["resolution"] for call in graph.calls] == list(RESOLUTIONS)
    assert len(RESOLUTIONS) == PEERS[BEST_RESOLUTION].trials == 12
    assert all(call["n_iterations"] == -1 for call in graph.calls)


@pytest.mark.compiled
def test_the_best_level_is_chosen_by_the_labels():
    graph, peer = hierarchy("27/9/3", degree=20.0, seed=0), PEERS[BEST_LEVEL]
    for width, k in ((1, 27), (9, 3)):
        found = peer.find(peer.build(replace(graph, truth=graph.truth // width)), 0)
        assert np.unique(found.labels).size == k
        assert found.note == "one of 3 levels"
        assert found.cpu_seconds > 0.0
    assert not peer.runs_on(replace(graph, truth=None))


def test_labels_that_are_not_known_do_not_choose():
    karate = ROWS["karate"].graph(0)
    hidden = np.arange(34) < 30
    _, agreement = PEERS[BEST_RESOLUTION].build(replace(karate, known=hidden))
    assert agreement(np.where(hidden, karate.truth, "other")) == pytest.approx(1.0)


def test_weights_count_where_a_graph_has_them():
    pytest.importorskip("igraph")
    source, target = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])
    square = BenchmarkGraph("square", 4, source, target, None)
    found = [
        PEERS[CONVERGED].find(PEERS[CONVERGED].build(replace(square, weight=weight)), 0).labels
        for weight in (np.array([9.0, 1.0, 9.0, 1.0]), np.array([1.0, 9.0, 1.0, 9.0]))
    ]
    assert [labels[0] == labels[1] for labels in found] == [True, False]
    assert [labels[1] == labels[2] for labels in found] == [False, True]
    matrix = peers.as_matrix(replace(square, weight=np.array([9.0, 1.0, 9.0, 1.0])))
    assert matrix[0, 1] == matrix[1, 0] == 9.0


def test_cpm_runs_on_lfr_graphs_only_and_has_no_line_elsewhere():
    small = own_lfr("lfr", n=600, degree=10, mixing=0.3, seed=0)
    with Contest([REFERENCE, CPM], max_seconds=60) as contest:
        on_lfr = contest.measure([small], repeat=1, seed=0)
        elsewhere = contest.measure([ROWS["karate"].graph(0)], repeat=1, seed=0)
    assert [len(outcome.runs) for outcome in on_lfr] == [1, 1]
    assert [len(outcome.runs) for outcome in elsewhere] == [1, 0]
    methods = [line[4] for line in table.cells("karate", elsewhere)]
    assert methods == [REFERENCE]


def test_the_patience_is_with_each_run_of_the_grid():
    worker = object.__new__(_Worker)
    worker.peer, worker.max_seconds = PEERS[CPM], 2.0
    worker._ask = lambda seed, patience: patience
    assert worker.run(0) == 24.0


def test_every_table_shows_leiden_with_two_iterations_and_converged():
    for shown in (LARGE_GRAPH_PEERS, real.METHODS, targets.BESIDE, growth.BESIDE):
        assert {REFERENCE, CONVERGED} <= set(shown)
    for shown in (LARGE_GRAPH_PEERS, targets.BESIDE):
        assert CPM in shown


def test_the_caption_says_what_each_method_runs_and_which_are_absent(capsys, monkeypatch):
    monkeypatch.delenv(peers.GRAPH_TOOL_PYTHON, raising=False)
    assert table.installed([REFERENCE, "graph-tool-pp"]) == [REFERENCE]
    first, second = capsys.readouterr().out.splitlines()
    version = PEERS[REFERENCE].installed_version
    assert first == (f"  igraph-leiden: igraph Leiden, modularity, 2 iterations; igraph {version}")
    assert second == "  graph-tool-pp: not installed, left out"
    assert len({peer.settings for peer in PEERS.values()}) == len(PEERS)


def test_measure_counts_the_runs_and_scores_them():
    karate = ROWS["karate"].graph(0)
    with Contest([REFERENCE], max_seconds=60) as contest:
        (outcome,) = contest.measure([karate, karate], repeat=2, seed=0)
    assert outcome.trouble == ""
    assert len(outcome.runs) == len(outcome.values("ami")) == 4
    assert all(0 < score <= 1 for score in outcome.values("nmi"))
    assert outcome.values("modularity") == pytest.approx([0.4198] * 4, abs=0.01)
    assert {(run.n, run.m, run.true_k) for run in outcome.runs} == {(34, 78, 2)}
    assert outcome.time_ratio(outcome) == 1.0


def test_measure_gives_up_on_a_method_that_takes_too_long_and_starts_it_anew():
    slow = planted_partition("planted", n=20_000, k=2, degree=10.0, snr=1.0, seed=0)
    karate = ROWS["karate"].graph(0)
    with Contest(["networkx-greedy"], max_seconds=0.5) as contest:
        (outcome,) = contest.measure([slow], repeat=1, seed=0)
        (after,) = contest.measure([karate], repeat=1, seed=0)
    assert outcome.trouble == "more than 0.5 s"
    assert outcome.median_seconds is None
    assert after.trouble == ""
    assert len(after.runs) == 1


def two_triangles(**options):
    return BenchmarkGraph(
        "triangles", 7, np.array([0, 1, 2, 3, 4, 5]), np.array([1, 2, 0, 4, 5, 3]), **options
    )


def test_a_null_is_whole_when_each_component_is_one_community():
    score = Scorer(two_triangles(truth=None, is_null=True))
    assert score(np.array([5, 5, 5, 1, 1, 1, 0])).whole == 1.0
    assert score(np.array([5, 5, 5, 1, 1, 2, 0])).whole == 0.0
    assert score(np.array([5, 5, 5, 1, 1, 1, 1])).whole == 0.0
    assert score(np.zeros(7, dtype=int)).nmi is None


def test_scores_leave_out_nodes_without_a_known_label():
    truth = np.array([0, 0, 0, 1, 1, 1, -1])
    known = truth >= 0
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    scores = Scorer(two_triangles(truth=truth, known=known))(labels)
    assert (scores.k, scores.k_error, scores.nmi, scores.overlap) == (2, 0.0, 1.0, 1.0)
    assert scores.whole is None


def test_the_peak_is_seen_after_the_memory_is_given_back():
    before = memory.start_watching()
    if before is None:
        pytest.skip("this system does not tell the peak")
    block = np.ones(5_000_000)
    del block
    assert 36e6 < memory.peak_above(before) < 60e6


def outcome_of(peer, seconds, k=2):
    scores = Scores(k=k, modularity=0.5, k_error=0.0, nmi=0.9, ami=0.8, overlap=0.7)
    return Outcome(peer, [Run(10, 20, 2, s, 3_000_000, None, "", scores) for s in seconds])


def test_a_table_line_compares_runs_side_by_side():
    ours, reference = outcome_of("kgroups", [1.0, 8.0, 3.0]), outcome_of(REFERENCE, [2.0, 4.0, 4.0])
    first, second = (
        dict(zip(table.header(), line, strict=True))
        for line in table.cells("name", [ours, reference])
    )
    assert first[f"/ {REFERENCE}"] == "0.75"
    assert second[f"/ {REFERENCE}"] == "1.00"
    assert first["seconds"] == "3.0000"
    assert (first["NMI"], first["whole"], first["peak MB"]) == ("0.9000", "-", "3.0")


def test_a_table_line_tells_why_there_is_no_figure():
    (line,) = table.cells("name", [Outcome("infomap", [], "more than 60 s")])
    cells = dict(zip(table.header(), line, strict=True))
    assert (cells["k"], cells["seconds"], cells["note"]) == ("-", "-", "more than 60 s")


def scored(peer, *, seconds=1.0, trouble="", **scores):
    run = Run(10, 20, scores.pop("true_k", None), seconds, None, None, "", Scores(**scores))
    return Outcome(peer, [run], trouble)


def test_the_table_by_graph_has_a_cell_per_method_and_means_over_all_graphs():
    methods = ["kgroups", REFERENCE, CPM]
    labeled = [
        scored("kgroups", k=3, modularity=0.5, ami=0.75, true_k=2, seconds=0.25),
        scored(REFERENCE, k=4, modularity=0.5, ami=0.5, true_k=2, seconds=0.5),
        scored(CPM, k=2, modularity=0.5, ami=1.0, true_k=2),
    ]
    null = [
        scored("kgroups", k=1, modularity=0.0, whole=1.0, seconds=1.0),
        scored(REFERENCE, k=9, modularity=0.3, whole=0.0, trouble="more than 9 s"),
        Outcome(CPM),
    ]
    other = [
        scored("kgroups", k=2, modularity=0.5, ami=0.25, true_k=2, seconds=3.0),
        scored(REFERENCE, k=2, modularity=0.5, ami=0.75, true_k=2, seconds=1.0),
        Outcome(CPM, [], "its process died"),
    ]
    measured = [("first", labeled), ("null", null), ("other", other)]
    assert table.by_graph(measured, methods) == [
        ["graph", "n", "m", "true k", *methods],
        ["first", "10", "20", "2", "3, 0.750, 250 ms", "4, 0.500, 500 ms", "2, 1.000, 1.0 s"],
        [
            *["null", "10", "20", "-"],
            *["1, 1.00 whole, 1.0 s", "9, 0.00 whole, 1.0 s (more than 9 s)", "-"],
        ],
        ["other", "10", "20", "2", "2, 0.250, 3.0 s", "2, 0.750, 1.0 s", "its process died"],
        [
            *["mean AMI, median time / igraph-leiden", "", "", ""],
            *["0.500, 1.00", "0.625, 1.00", "-, -"],
        ],
    ]


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (None, "-"),
        (0.000_049, "0.05 ms"),
        (0.0018, "1.8 ms"),
        (0.00996, "10 ms"),
        (0.6514, "651 ms"),
        (0.9949, "995 ms"),
        (0.996, "1.0 s"),
        (123.4, "123 s"),
    ],
)
def test_durations_have_a_unit_and_two_digits(seconds, written):
    assert table.duration(seconds) == written


def test_markdown_has_the_table_the_caption_and_the_settings(tmp_path):
    path = tmp_path / "table.md"
    lines = table.markdown([["graph", "k"], ["a|b", "2"]])
    table.write_markdown(path, [lines, "What it is."], [REFERENCE])
    version = PEERS[REFERENCE].installed_version
    assert path.read_text() == (
        "| graph | k |\n"
        "|---|---|\n"
        "| a\\|b | 2 |\n"
        "\n"
        "What it is.\n"
        "\n"
        f"- `igraph-leiden`: igraph Leiden, modularity, 2 iterations; igraph {version}\n"
    )
