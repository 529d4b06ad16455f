"""The experiments on constants: they name what exists, and leave it as it was."""

from functools import partial

import pytest

from benchmarks.constants import cases
from benchmarks.constants.__main__ import lines_of
from benchmarks.constants.experiments import EXPERIMENTS, Experiment, Setting, varied
from benchmarks.graphs import planted_partition
from kgroups.regimes import many

RUNS = [
    Setting("whole search", run=cases.searched),
    Setting("pipeline", run=cases.detected),
    *(
        Setting(f"{by} from {start}", run=partial(cases.polished, start=start, by=by))
        for by in ("nothing", "Hartigan, margin 0", "one density", "own densities")
        for start in ("moves", "truth")
    ),
]


@pytest.fixture
def small(monkeypatch):
    draw = partial(planted_partition, n=2_000, k=20, degree=15.0, snr=2.5)
    monkeypatch.setitem(cases.GRAPHS, "small", draw)
    yield "small"
    cases.case_of.cache_clear()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_names_graphs_and_constants_that_exist(name):
    experiment = EXPERIMENTS[name]
    assert set(experiment.graphs) <= set(cases.GRAPHS)
    assert len({setting.label for setting in experiment.settings}) == len(experiment.settings) > 1
    for setting in experiment.settings:
        assert all(hasattr(owner, attribute) for owner, attribute, _ in setting.changes)
        assert not (setting.label.endswith("*") and setting.changes)


@pytest.mark.parametrize("name", sorted(set(EXPERIMENTS) - {"densities", "bias"}))
def test_one_value_is_the_chosen_one(name):
    assert sum(setting.label.endswith("*") for setting in EXPERIMENTS[name].settings) == 1


@pytest.mark.compiled
@pytest.mark.parametrize("setting", RUNS, ids=lambda setting: setting.label)
def test_every_kind_of_run_gives_labels_of_the_largest_component(small, setting):
    case = cases.case_of(small, 3)
    found = setting.found(case)
    assert found.z.shape == case.truth.shape
    assert case.nats_of(found.z) > 0.5 * case.nats_of(case.truth)


@pytest.mark.compiled
def test_a_line_tells_a_good_value_from_a_bad_one(small):
    """Moves that stay hot, against those that cool."""
    before = many._COLD, many._MILD
    changes = ((many, "_COLD", (5.0,)), (many, "_MILD", (5.0, 5.0)))
    experiment = Experiment("cooling", (small,), (Setting("chosen*"), Setting("bad", changes)))
    good, bad = (line.split() for line in lines_of(experiment, range(1)))
    assert good[:2] == ["small", "chosen*"]
    assert float(good[2]) > float(bad[2])
    assert float(good[6]) < float(bad[6])
    assert before == (many._COLD, many._MILD)


def test_a_constant_that_is_gone_is_an_error():
    with pytest.raises(AttributeError, match="_NO_SUCH"):
        varied("nothing", many, "_NO_SUCH", (1.0,), ("LFR d=10 mu=.5",))
