"""The line that says how long a study will take: once, after the first trials, unless short."""

import pytest

from kgroups.cli.study import TimeEstimate, shown_duration


def report(jobs, seconds_of_reports, *, before=0, total):
    now = [100.0]
    progress = TimeEstimate(jobs, clock=lambda: now[0])
    progress(before, total)
    for done, seconds in enumerate(seconds_of_reports, start=before + 1):
        now[0] += seconds
        progress(done, total)


def test_one_line_after_the_first_trials(capsys):
    report(1, [1.0] * 50, total=100)
    assert capsys.readouterr().err == "6 of 100 trials are done, about 1.6 minutes to go\n"


def test_compilation_in_the_first_trial_does_not_count(capsys):
    report(1, [600.0, *[6.0] * 5], total=12)
    assert capsys.readouterr().err == "2 of 12 trials are done, about 60 seconds to go\n"


def test_the_first_round_of_several_processes_does_not_count(capsys):
    rounds = [60.0, 0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0]
    report(4, rounds, total=48)
    assert capsys.readouterr().err == "8 of 48 trials are done, about 80 seconds to go\n"


def test_short_studies_say_nothing(capsys):
    report(1, [0.01] * 100, total=100)
    assert capsys.readouterr().err == ""


def test_trials_of_an_earlier_run_are_told_and_do_not_count(capsys):
    report(1, [1.0] * 10, before=80, total=100)
    told = "80 of 100 trials were done before\n86 of 100 trials are done, about 14 seconds to go\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 seconds"),
        (42.3, "42 seconds"),
        (89, "89 seconds"),
        (90, "1.5 minutes"),
        (5400, "1.5 hours"),
        (72_000, "20 hours"),
        (400_000, "4.6 days"),
    ],
)
def test_durations(seconds, text):
    assert shown_duration(seconds) == text
