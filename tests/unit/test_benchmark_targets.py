"""The targets of large graphs: what is demanded, and that a verdict can be no."""

from dataclasses import replace

import pytest

from benchmarks import growth, targets
from benchmarks.growth import Beside, Size, growth_of
from benchmarks.measure import Outcome, Run
from benchmarks.peers import CONVERGED, CPM, PEERS, REFERENCE
from benchmarks.scores import Scores


def size(m, *, visits=1.0, ratio=1.0, bytes_per_edge=100.0):
    beside = (Beside(CONVERGED, 1.0, 9.0, 1.0), Beside(REFERENCE, 1.0, ratio, 1.0))
    return Size("name", m, visits, 1.0, bytes_per_edge, 1.0, beside, "")


def test_growth_fits_the_exponent_and_takes_the_worst_of_the_rest():
    found = growth_of(
        [
            size(m, visits=7.0 * m**1.3, ratio=ratio, bytes_per_edge=per_edge)
            for m, ratio, per_edge in [(1e5, 0.5, 240), (1e6, 0.8, 180), (1e7, 0.6, 150)]
        ]
    )
    assert found.visits_exponent == pytest.approx(1.3)
    assert found.ratio_rise == pytest.approx(1.6)
    assert found.bytes_per_edge == 240


def test_growth_does_not_judge_what_was_not_measured():
    found = growth_of([size(1e5), size(1e6, visits=None, ratio=None, bytes_per_edge=None)])
    assert found == growth.Growth(None, None, None)


def test_a_size_shows_quality_and_time_of_each_peer():
    ours = outcome("kgroups", [1.0, 3.0], [0.9, 0.8], cpus=[1.0, 2.0])
    peers = [
        outcome(REFERENCE, [2.0, 2.0], [0.5, 0.4], cpus=[3.0, 4.0]),
        outcome(CONVERGED, [], [], trouble="more than 60 s"),
    ]
    size = growth._size("graph", ours, *peers)
    assert size.ratio == 1.0
    headings = [column.heading for column in growth.columns([REFERENCE, CONVERGED])]
    each = ["ratio", "CPU s", "bytes / edge", "NMI"]
    assert headings[7:] == [REFERENCE, *each, CONVERGED, *each, "note"]
    assert growth.cells(size) == [
        *["graph", "20", "-", "150", "1.500", "2.000", "0.80000"],
        *["2.000", "1.00", "3.500", "150", "0.40000"],
        *["-", "-", "-", "-", "-", f"{CONVERGED}: more than 60 s"],
    ]


class Rehearsed:
    """Stands for the processes of the methods; answers with given outcomes."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def measure(self, graphs, *, repeat, seed):
        return self.outcomes


def outcome(peer, seconds, nmis, trouble="", cpus=()):
    runs = [
        Run(10, 20, 4, s, 3_000, None, "", Scores(k=4, modularity=0.5, k_error=0.0, nmi=nmi), cpu)
        for s, nmi, cpu in zip(seconds, nmis, cpus or seconds, strict=True)
    ]
    return Outcome(peer, runs, trouble)


TARGET = targets.Target("name", (targets.Case("case", ()),), (targets.nmi(0.9),), 0.5)


def verdicts(ours):
    reference = outcome(REFERENCE, [1.0, 1.0, 1.0], [0.5, 0.6, 0.7])
    converged = outcome(CONVERGED, [4.0, 5.0, 6.0], [0.8, 0.7, 0.9])
    contest = Rehearsed(ours, reference, converged, Outcome(CPM))
    return list(targets._verdicts(TARGET, TARGET.cases[0], contest, targets.Effort()))


def test_quality_is_the_worst_and_the_time_ratio_the_median():
    quality, time = verdicts(outcome("kgroups", [0.1, 0.4, 9.0], [0.95, 0.92, 0.99]))
    assert (quality.measured, quality.met) == ("0.92", True)
    assert (time.measured, time.met) == ("0.4", True)


def test_each_peer_shows_its_worst_quality_and_its_time():
    quality, time = verdicts(outcome("kgroups", [0.1, 0.4, 9.0], [0.95, 0.92, 0.99]))
    assert quality.beside == ("0.5", "0.7", "-")
    assert time.beside == ("1.000 s (0.4)", "5.000 s (0.08)", "-")


def test_one_bad_graph_and_a_slow_median_miss():
    quality, time = verdicts(outcome("kgroups", [0.1, 0.6, 0.7], [0.95, 0.89, 0.99]))
    assert not quality.met
    assert not time.met


def test_a_method_that_did_not_end_meets_nothing():
    ours = outcome("kgroups", [0.1], [1.0], trouble="more than 60 s")
    for verdict in verdicts(ours):
        assert verdict.measured == "more than 60 s"
        assert not verdict.met
    assert verdict.beside == ("1.000 s", "5.000 s", "-")


def test_time_is_not_judged_without_a_bound():
    target = replace(TARGET, ratio=None)
    contest = Rehearsed(outcome("kgroups", [9.0], [0.95]), outcome(REFERENCE, [1.0], [0.5]))
    (quality,) = targets._verdicts(target, target.cases[0], contest, targets.Effort())
    assert quality.met


def test_the_table_is_written_with_each_peer_and_its_settings(monkeypatch, tmp_path, capsys):
    outcomes = [
        outcome("kgroups", [0.6], [0.95]),
        outcome(REFERENCE, [1.0], [0.5]),
        outcome(CONVERGED, [4.0], [0.75]),
        Outcome(CPM),
    ]
    asked = []

    def contest(methods, *, max_seconds):
        asked.append(methods)
        return Rehearsed(*outcomes)

    monkeypatch.setattr(targets, "Contest", contest)
    monkeypatch.setattr(targets, "TARGETS", (TARGET,))
    path = tmp_path / "table.md"
    assert not targets.judge(["name"], targets.Effort(), markdown=path)
    assert asked == [["kgroups", REFERENCE, CONVERGED, CPM]]
    assert "0 of 1 targets met; missed: name" in capsys.readouterr().out
    lines = path.read_text().splitlines()
    assert lines[0] == (
        f"| target | graph | what | wanted | kgroups | {REFERENCE} | {CONVERGED} | {CPM} | met |"
    )
    assert lines[2:4] == [
        "| name | case | NMI | >= 0.9 | 0.95 | 0.5 | 0.75 | - | yes |",
        "| name | case | time / igraph-leiden | <= 0.5 | 0.6 | 1.000 s (0.6) | 4.000 s (0.15) "
        "| - | NO |",
    ]
    assert any(line.startswith(f"- `{CPM}`: igraph Leiden, CPM") for line in lines)


def test_every_target_judges_a_known_method():
    methods = {target.method for target in targets.TARGETS}
    assert methods == {"kgroups", targets.SEARCH}
    assert methods < set(PEERS)


def test_an_exact_number_of_communities_allows_no_error():
    assert targets.k_within(0).holds(0.0)
    assert not targets.k_within(0).holds(0.5)


def test_every_target_has_graphs_and_a_name_of_its_own():
    assert len(set(targets.NAMES)) == len(targets.NAMES)
    assert all(case.rows for target in targets.TARGETS for case in target.cases)
