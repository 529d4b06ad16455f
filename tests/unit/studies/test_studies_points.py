"""Studies of points instead of graphs."""

import numpy as np
import pytest

from kgroups.errors import InputError, PartitionError
from kgroups.studies import Points, sweep


def two_heaps(gap, rng):
    z = np.arange(20) % 2
    return Points(rng.standard_normal((20, 1)) + gap * z[:, None]), z


def above_the_mean(points, k, rng):
    return (points.X[:, 0] > points.X.mean()).astype(int)


def test_points_go_to_methods_as_they_are():
    study = sweep(two_heaps, {"gap": [0.0, 50.0]}, above_the_mean, "accuracy", 3, progress=False)
    assert study.values("accuracy", method="above_the_mean", gap=50.0).tolist() == [1.0] * 3
    assert study.values("accuracy", method="above_the_mean", gap=0.0).max() < 1.0


def test_methods_for_graphs_refuse_points():
    with pytest.raises(InputError, match="'kgroups' needs a graph, and the generator returned poi"):
        sweep(two_heaps, {"gap": 1.0}, "kgroups", "accuracy", 1, progress=False)


def test_points_need_a_label_each():
    def short(gap, rng):
        return Points(np.zeros((4, 1))), [0, 1, 1]

    with pytest.raises(PartitionError, match="4"):
        sweep(short, {"gap": 1.0}, above_the_mean, "accuracy", 1, progress=False)
