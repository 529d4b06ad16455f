"""Levels of a graph that are given, in place of those that are found."""

import numpy as np

from kgroups.search import Scale


def give_scales(monkeypatch, *labels):
    """Let detection's levels be the labels given in node order, and the labels asked about.

    Nodes must be in sorted order and the graph connected, so that its problem has them in the same
    order. Return the list of the calls: problem, labels and settings of each.
    """
    calls = []

    def find_scales(problem, z, settings, rng, progress=lambda stage: None):
        calls.append((problem, z, settings))
        found = [np.unique(other, return_inverse=True)[1] for other in labels]
        found = [other for other in found if other.max() != z.max()]
        ordered = sorted([z, *found], key=lambda other: -other.max())
        progress("looking above")
        return [Scale(other, 10.0 * (other.max() + 1)) for other in ordered]

    monkeypatch.setattr("kgroups.partition.levels.find_scales", find_scales)
    return calls
