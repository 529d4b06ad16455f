"""The experiments on settings: each field of the search has one, and it tells good from bad."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest

import kgroups as kg
from benchmarks.constants import experiments
from benchmarks.constants.__main__ import lines_of, measured
from benchmarks.constants.cases import case_of
from benchmarks.constants.experiments import EXPERIMENTS, varied
from benchmarks.graphs import BenchmarkGraph, planted_partition
from benchmarks.suites import Row

# Numbers; a choice among names is no constant.
FIELDS = [one.name for one in fields(kg.Search) if not isinstance(one.default, str)]
TRIANGLES = BenchmarkGraph(
    "triangles", 6, np.array([0, 0, 1, 2, 3, 3, 4]), np.array([1, 2, 2, 3, 4, 5, 5]), None
)
SMALL = Row("small", partial(planted_partition, n=2_000, k=20, degree=15.0, snr=1.5))


def test_every_field_of_the_search_has_its_experiment():
    assert set(EXPERIMENTS) == {*FIELDS, "rules", "independent", "methods"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_one_value_is_the_chosen_one(name):
    settings = EXPERIMENTS[name].settings
    (chosen,) = (setting for setting in settings if setting.chosen)
    assert chosen.label.endswith("*")
    assert chosen.method in (kg.Search(), kg.Search(dispersion=1.0), kg.Auto())
    assert len({setting.label for setting in settings}) == len(settings) > 2


@pytest.mark.parametrize("name", FIELDS)
def test_an_experiment_varies_its_field_alone(name):
    default = getattr(kg.Search(), name)
    for setting in EXPERIMENTS[name].settings:
        others = {"dispersion": None, name: default}
        assert replace(setting.method, **others) == kg.Search()


def test_the_default_must_be_among_the_values():
    with pytest.raises(ValueError, match="default 8 of starts"):
        varied("starts", "starts", 1, 2)


@pytest.mark.compiled
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_setting_gives_labels(name):
    case = case_of(SMALL, 3)
    for setting in EXPERIMENTS[name].settings:
        with setting.rules():
            assert case.detected(setting.method).shape == (case.graph.n,)


def test_a_rule_is_off_only_while_it_is_tried():
    """Two bridged triangles are split by counting their pairs."""
    case = case_of(Row("triangles", lambda _, seed: TRIANGLES), 0)
    (without,) = (one for one in EXPERIMENTS["rules"].settings if one.without == "pairs")
    with without.rules():
        assert np.unique(case.detected(without.method)).size == 1
    assert np.unique(case.detected(without.method)).size == 2


@pytest.mark.compiled
def test_a_line_tells_a_good_value_from_a_bad_one():
    """More nats than any communities save, against the default."""
    chosen = kg.Search().significance
    experiment = varied("nats", "significance", 1e9, chosen, rows=(SMALL,))
    scores, ratios = measured(experiment, SMALL, range(2))
    assert scores[0] < 99.0
    assert scores[1] == pytest.approx(100.0)
    assert ratios[1] == 1.0
    header, line, mean = lines_of(experiment, range(1))
    assert header.split() == ["1e+09", "2.30259*"]
    assert line.split()[0] == "small"
    assert mean.split()[0] == "mean"


@pytest.mark.compiled
def test_communities_that_must_save_more_than_they_do_are_one():
    settings = varied("nats", "significance", kg.Search().significance, 1e9).settings
    share = [
        experiments.ONE.of(case, case.detected(setting.method))
        for case in [case_of(SMALL, 1)]
        for setting in settings
    ]
    assert np.array_equal(share, [0.0, 100.0])
