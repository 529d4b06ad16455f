"""The benchmark of the posterior: its scores are what they claim, and a row can be printed."""

from functools import partial

import numpy as np
import pytest

from benchmarks.posterior import Cell, calibration_error, cells, right_labels
from kgroups.generators import planted_partition


def test_calibration_error_is_a_mean_over_bins():
    sure = np.array([0.95, 0.95, 0.55, 0.55])
    assert calibration_error(sure, np.array([1, 1, 1, 0])) == pytest.approx(0.05)
    assert calibration_error(sure, np.array([0, 1, 1, 1])) == pytest.approx(0.45)


def test_labels_are_right_under_the_best_names():
    truth = np.array([0, 0, 0, 1, 1, 2])
    assert right_labels(truth, np.array([2, 2, 1, 1, 1, 0])).tolist() == [1, 1, 0, 1, 1, 1]
    assert right_labels(truth, np.array([0, 0, 0, 1, 2, 3])).sum() == 5


@pytest.mark.compiled
def test_a_row_has_seed_posterior_and_oracle(capsys):
    cell = Cell("small", 2, 6.0, 2.0, partial(planted_partition, 300, 2, 6.0, 2.0))
    for seed in range(2):
        cell.add(seed)
    cell.print()
    seed, found, oracle = np.mean(cell.overlaps, axis=0)
    assert found >= seed - 0.02
    assert found == pytest.approx(oracle, abs=0.05)
    assert capsys.readouterr().out.startswith("small")


def test_cells_cover_the_models():
    assert {cell.name.split()[0] for cell in cells()} == {"SBM", "DCSBM", "Girvan-Newman"}
