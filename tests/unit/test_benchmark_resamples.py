"""The benchmark of reproducibility: every method sees the same copies."""

import numpy as np
import pytest

import kgroups as kg
from benchmarks import resamples
from benchmarks.graphs import BenchmarkGraph
from benchmarks.peers import CONVERGED


@pytest.fixture
def ring():
    ends = [(5 * c + i, 5 * c + j) for c in range(4) for i in range(5) for j in range(i)]
    ends += [(5 * c, (5 * c + 6) % 20) for c in range(4)]
    source, target = np.array(ends).T
    return BenchmarkGraph("ring", 20, source, target, np.arange(20) // 5)


def test_copies_are_those_on_which_kgroups_runs(ring, monkeypatch):
    seen = []

    def detect(graph, *, rng, **settings):
        seen.append(np.stack(graph.edges()[:2]))
        return kg.detect_communities(graph, **settings)

    monkeypatch.setattr("kgroups.uncertainty.stability.detect_communities", detect)
    resamples.measured_kgroups(ring, seed=3)
    drawn = [np.stack([one.source, one.target]) for one in resamples.copies(ring, seed=3)]
    assert len(seen) == len(drawn) == resamples.RESAMPLES
    for ours, theirs in zip(seen, drawn, strict=True):
        assert np.array_equal(ours, theirs)
    assert len({one.shape for one in drawn}) > 1


@pytest.mark.parametrize("method", ["kgroups", CONVERGED])
def test_cliques_are_found_again(ring, method):
    pytest.importorskip("igraph")
    assert resamples.MEASURES[method](ring, 0)["agreement"] == pytest.approx(1.0)
