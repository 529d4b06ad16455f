"""The threshold of detection, and the paper's means within their sampling error."""

import math

import pytest

from kgroups.studies import phase_transition, sweep
from reproduce.planted import girvan_newman
from reproduce.published import GIRVAN_NEWMAN, GIRVAN_NEWMAN_TRIALS

pytestmark = pytest.mark.statistical


def test_groups_come_back_only_above_the_threshold():
    """Bounds: mean ± 5 s.e. of 8 graphs; 60 graphs gave .041 (sd .035) and .803 (sd .034)."""
    study = phase_transition(1_000, 2, 5.0, [0.5, 1.5], "kgroups", 8, progress=False)
    below, above = (study.values("overlap", method="kgroups", snr=snr) for snr in (0.5, 1.5))
    assert below.mean() <= 0.103, below
    assert above.mean() >= 0.743, above


@pytest.mark.parametrize("snr", [1.1, 1.5, 2.0])
def test_means_of_the_paper_on_the_girvan_newman_benchmark(snr):
    """Five standard errors of the difference, from the paper's own spread of single graphs."""
    trials = 60
    study = sweep(
        girvan_newman,
        {"snr": snr},
        ("kgroups-paper-uniform", "bethe-hessian-raw"),
        "overlap",
        trials,
        progress=False,
    )
    for method, name in (("kgroups-paper-uniform", "kgroups"), ("bethe-hessian-raw", "bethe")):
        printed = GIRVAN_NEWMAN[snr][name]
        error = printed.sd * math.sqrt(1 / trials + 1 / GIRVAN_NEWMAN_TRIALS)
        mean = study.values("overlap", method=method).mean()
        assert abs(mean - printed.mean) <= 5 * error, (method, mean, printed.mean)
