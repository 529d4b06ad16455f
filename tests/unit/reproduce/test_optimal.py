"""The experiment ``optimal``: single trials, tables and claims, and a run that resumes."""

import json
from importlib import import_module

import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import planted_partition
from reproduce import reproduce
from reproduce.__main__ import main
from reproduce.inference_trials import (
    Cell,
    block_model_graph,
    calibration_bins,
    calibration_error,
    cells,
    chain_agreement,
    claimed,
    numbers,
    random_graph,
    recovery,
    right_labels,
    uneven_graph,
    with_k,
)

CLEAR = [[0.0] * 9 + [100.0], [0.0] * 9 + [95.0], [0.0] * 9 + [95.0]]
RECOVERED = {
    "seed": 0.5, "bp": 0.6, "oracle": 0.602, "oracle from truth": 0.61, "gain": -1.0,
    "accepted": True, "bins": CLEAR,
}  # fmt: skip
NUMBERS = {"truth": 2, "P(k)": 2, "at mean-degree": 1, "at second-moment": 2,
           "at nonbacktracking": 2, "description": 1, "default": 2}  # fmt: skip


def toy_cells(trials):
    """Return a cell of each part with made-up values."""
    calls.append(trials)
    power = {"model": "SBM", "n": 1000, "k": 2, "λ": 1.3, "test": "19 nulls"}
    made = [
        ("recovery", {"model": "SBM", "k": 2, "λ": 1.3}, RECOVERED),
        ("recovery", {"model": "DCSBM", "k": 3, "λ": 1.4}, RECOVERED),
        ("recovery", {"model": "Girvan-Newman", "k": 4, "λ": 1.1}, RECOVERED),
        ("size", {"graphs": "power law"}, {"claimed": False}),
        ("power", power, {"claimed": True}),
        ("number", {"family": "SBM", "k": 2, "λ": 1.4}, NUMBERS),
        ("number", {"family": "DCSBM", "k": 3, "λ": 1.4}, {**NUMBERS, "truth": 3}),
        ("chain", {"network": "karate"},
         {"n": 34, "k": 2, "rank correlation": 0.95, "difference": 0.01, "converged": True}),
        ("lfr", {"n": 1000, "mixing": 0.5},
         {"k": 9, "sure": 0.9, "right": 0.95, "seconds": 1.0, "bins": CLEAR}),
        ("large", {"n": 1000},
         {"seconds": 1.0, "leiden": 2.0, "peak": 2e9, "overlap": 0.9, "sweeps": 9}),
    ]  # fmt: skip
    once = ("chain", "lfr", "large")
    return [
        Cell(part, where, 1 if part in once else trials, Constant(values))
        for part, where, values in made
    ]


class Constant:
    def __init__(self, values):
        self.values = values

    def __call__(self, seed):
        measured.append(seed)
        if len(measured) == interrupt_at[0]:
            raise KeyboardInterrupt
        return self.values


calls, measured, interrupt_at = [], [], [0]


@pytest.fixture(autouse=True)
def fresh():
    calls.clear()
    measured.clear()
    interrupt_at[0] = 0


@pytest.fixture
def toy(monkeypatch):
    # The package has a function of the same name as the module.
    monkeypatch.setattr(import_module("reproduce.optimal"), "cells", toy_cells)


def test_tables_and_claims(toy):
    finding = reproduce("optimal", trials=1, progress=False)
    words = [line[-1] for line in finding.lines]
    # .6 is .002 below the oracle, .01 below the one from the truth; the bars are .005 and .015.
    assert words == ["met, missed", "met, met", "met"]
    assert [claim.holds for claim in finding.claims] == [True, False, True, True]
    assert "smallest margin -0.0050 at SBM, k = 2, λ = 1.3" in finding.claims[1].seen
    parts = {part.name: part for part in finding.parts}
    assert parts["optimal-calibration"].holds
    assert parts["optimal-chains"].holds
    size, power = parts["optimal-verdict"].claims
    assert not size.holds
    assert power.holds
    by_mean, by_radius = parts["optimal-k"].claims
    assert by_mean.seen == "0.500 of 2"
    assert by_radius.seen == "1.000 of 1"
    fast, small = parts["optimal-time"].claims
    assert fast.holds
    assert not small.holds
    assert not finding.holds
    text = finding.to_markdown()
    assert all(f"## {name}: " in text for name in ("optimal", *parts))


def test_an_interrupted_run_resumes(toy, tmp_path, capsys):
    words = ["optimal", "--trials", "2", "--output", str(tmp_path)]
    interrupt_at[0] = 8
    assert main(words) == 130
    assert len((tmp_path / "optimal-2.jsonl").read_text().splitlines()) == 1 + 7
    interrupt_at[0] = 0
    assert main(words) == 0
    assert len(measured) == 8 + 17 - 7
    written = {path.name for path in tmp_path.iterdir()}
    assert "optimal-2.jsonl" not in written
    assert {"optimal.csv", "optimal-k.csv", "optimal-verdict.csv", "report.md"} <= written
    out = capsys.readouterr().out
    assert "optimal-k: share of graphs" in out
    assert len(set(measured)) == 17


def test_parts_are_in_the_json_document(toy, tmp_path, capsys):
    assert main(["optimal", "--trials", "1", "--output", str(tmp_path), "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["experiments"]
    names = [part["experiment"] for part in document["parts"]]
    assert names[0] == "optimal-calibration"
    assert document["holds"] is False


def test_the_sizes_are_those_of_the_targets():
    every = cells(100)
    count = {}
    for cell in every:
        count[cell.part] = count.get(cell.part, 0) + cell.trials
    assert count["size"] == 1000
    assert count["lfr"] == 3
    families = {}
    for cell in every:
        if cell.part == "number":
            family = cell.parameters["family"]
            families[family] = families.get(family, 0) + cell.trials
    assert (families["SBM"], families["DCSBM"]) == (75, 45)
    assert (families["Erdős-Rényi"], families["LFR"]) == (15, 10)
    identities = [json.dumps([cell.part, dict(cell.parameters)]) for cell in every]
    assert len(set(identities)) == len(every)


def test_labels_are_right_under_the_best_names():
    truth = np.array([0, 0, 0, 1, 1, 2])
    assert right_labels(truth, np.array([2, 2, 1, 1, 1, 0])).tolist() == [1, 1, 0, 1, 1, 1]
    assert right_labels(truth, np.array([0, 0, 0, 1, 2, 3])).sum() == 5
    rng = np.random.default_rng(0)
    for _ in range(5):
        truth, labels = rng.integers(6, size=80), rng.integers(9, size=80)
        assert right_labels(truth, labels).mean() == pytest.approx(
            kg.metrics.accuracy(truth, labels)
        )


def test_calibration_error_is_a_mean_over_bins():
    sure = np.array([0.95, 0.95, 0.55, 0.55])
    for right, error in (([1, 1, 1, 0], 0.05), ([0, 1, 1, 1], 0.45)):
        assert calibration_error([calibration_bins(sure, np.array(right))]) == pytest.approx(error)
    two = [calibration_bins(sure, np.array(right)) for right in ([1, 1, 1, 0], [0, 1, 1, 1])]
    assert calibration_error(two) == pytest.approx(0.2)


def test_ratios_relative_to_the_radius_are_less_signal():
    sizes = {}
    for relative in (False, True):
        planted = uneven_graph(3, 1.6, 0, relative=relative)
        sizes[relative] = planted.inside[0] - planted.between
    assert 0.0 < sizes[True] < sizes[False]


@pytest.mark.compiled
def test_one_trial_of_each_kind():
    found = recovery(lambda seed: planted_partition(300, 2, 5.0, 1.8, rng=seed), 3)
    assert found["bp"] == pytest.approx(found["oracle"], abs=0.05)
    assert np.sum(found["bins"][0]) == 300
    for kind in ("Erdős-Rényi", "power law", "degrees of real networks"):
        assert set(claimed(lambda seed, kind=kind: random_graph(kind, seed), 19, 4)) == {"claimed"}
    several = numbers(
        lambda seed: with_k(lambda s: planted_partition(200, 3, 9.0, 2.5, rng=s), seed), 1
    )
    assert several["truth"] == several["P(k)"] == several["default"] == 3
    assert block_model_graph(2, 1.5, 0, n=50).graph.n == 50
    assert chain_agreement("karate", 0)["rank correlation"] > 0.9
