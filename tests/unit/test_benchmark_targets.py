"""The targets of large graphs: what is demanded, and that a verdict can be no."""

from dataclasses import replace

import pytest

from benchmarks import growth, targets
from benchmarks.growth import Size, growth_of
from benchmarks.measure import Outcome, Run
from benchmarks.peers import PEERS, REFERENCE
from benchmarks.scores import Scores


def size(m, *, visits=1.0, ratio=1.0, bytes_per_edge=100.0):
    return Size("name", m, visits, 1.0, 1.0, ratio, bytes_per_edge, 1.0, "")


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


class Rehearsed:
    """Stands for the processes of the two methods; answers with given outcomes."""

    def __init__(self, ours, reference):
        self.outcomes = [ours, reference]

    def measure(self, graphs, *, repeat, seed):
        return self.outcomes


def outcome(peer, seconds, nmis, trouble=""):
    runs = [
        Run(10, 20, 4, s, None, None, "", Scores(k=4, modularity=0.5, k_error=0.0, nmi=nmi))
        for s, nmi in zip(seconds, nmis, strict=True)
    ]
    return Outcome(peer, runs, trouble)


TARGET = targets.Target("name", (targets.Case("case", ()),), (targets.nmi(0.9),), 0.5)


def verdicts(ours):
    reference = outcome(REFERENCE, [1.0, 1.0, 1.0], [0.5, 0.6, 0.7])
    contest = Rehearsed(ours, reference)
    return list(targets._verdicts(TARGET, TARGET.cases[0], contest, targets.Effort()))


def test_quality_is_the_worst_and_the_time_ratio_the_median():
    quality, time = verdicts(outcome("kgroups", [0.1, 0.4, 9.0], [0.95, 0.92, 0.99]))
    assert (quality.measured, quality.reference, quality.met) == ("0.92", "0.5", True)
    assert (time.measured, time.met) == ("0.4", True)


def test_one_bad_graph_and_a_slow_median_miss():
    quality, time = verdicts(outcome("kgroups", [0.1, 0.6, 0.7], [0.95, 0.89, 0.99]))
    assert not quality.met
    assert not time.met


def test_a_method_that_did_not_end_meets_nothing():
    ours = outcome("kgroups", [0.1], [1.0], trouble="more than 60 s")
    for verdict in verdicts(ours):
        assert verdict.measured == "more than 60 s"
        assert not verdict.met


def test_time_is_not_judged_without_a_bound():
    target = replace(TARGET, ratio=None)
    contest = Rehearsed(outcome("kgroups", [9.0], [0.95]), outcome(REFERENCE, [1.0], [0.5]))
    (quality,) = targets._verdicts(target, target.cases[0], contest, targets.Effort())
    assert quality.met


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
