"""Partitions as detection returns them: with graph, spectrum and report."""

import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import kgroups
from kgroups.errors import (
    ContinuumWarning,
    CrowdedThresholdWarning,
    DisassortativeWarning,
    PartitionError,
)
from kgroups.partition import Partition
from kgroups.spectrum import estimate


@pytest.fixture(scope="module")
def karate():
    return kgroups.detect_communities(nx.karate_club_graph(), weight=None)


@pytest.fixture(scope="module")
def grid():
    return kgroups.detect_communities(nx.grid_2d_graph(12, 12))


def test_repr_says_how_sure_the_spectrum_is():
    karate = kgroups.detect_communities(nx.karate_club_graph(), weight=None)
    first = f"Partition(2 communities of 34 nodes, sizes {karate.sizes[0]}, {karate.sizes[1]})"
    why = f"  {karate.report.why}"
    shown = "  the spectrum shows 2, too"
    hint = "  other scales: partition.levels(); how sure and stable: partition.summary(full=True)"
    assert repr(karate).splitlines() == [first, why, f"{shown} (r = 2.142)", hint]
    assert karate.spectrum.k == 2
    assert repr(karate).splitlines() == [first, why, f"{shown} (at every choice of r)", hint]
    assert karate.known_levels is None


def test_repr_shows_each_warning_once_and_shortened():
    grid = kgroups.detect_communities(nx.grid_2d_graph(12, 12))
    for _ in range(2):
        lines = repr(grid).splitlines()
        shown = [line for line in lines if "warning: " in line]
        assert len(shown) == len(grid.report.warnings) > 1
        assert max(map(len, lines)) <= 100
        kinds = {type(warning) for warning in grid.report.warnings}
        assert {type(warning) for warning in grid.spectrum.warnings} == kinds - {ContinuumWarning}


def test_the_spectrum_is_computed_at_its_first_access(monkeypatch):
    calls, original = [], estimate.spectrum_of
    counted = lambda *args, **options: calls.append(1) or original(*args, **options)  # noqa: E731
    monkeypatch.setattr(estimate, "spectrum_of", counted)
    for nodes in (34, 1_200):
        G = nx.planted_partition_graph(2, nodes // 2, 20 / nodes, 2 / nodes, seed=0)
        partition = kgroups.detect_communities(G, operator=kgroups.BetheHessian("second-moment"))
        assert repr(partition)
        assert partition.report.lines()
        assert pickle.loads(pickle.dumps(partition)).known_spectrum is None
        assert calls == []
        spectrum = partition.spectrum
        assert partition.spectrum is spectrum is partition.known_spectrum
        assert spectrum.r_choice == "second-moment"
        assert calls == [1]
        calls.clear()


def test_a_partition_made_by_hand_computes_the_spectrum_of_its_graph():
    graph = kgroups.as_graph(nx.ring_of_cliques(5, 6))
    partition = Partition(np.repeat(np.arange(5), 6), graph=graph)
    assert partition.spectrum == kgroups.estimate_k(graph)


def test_without_graph_or_saved_spectrum_the_error_says_what_to_do(tmp_path):
    partition = kgroups.detect_communities(nx.karate_club_graph())
    for name in ("p.json", "p.csv"):
        partition.save(tmp_path / name)
        loaded = Partition.load(tmp_path / name)
        assert loaded.known_spectrum is None
        with pytest.raises(PartitionError, match=r"before saving the partition as \.json"):
            _ = loaded.spectrum
    assert partition.spectrum.k == 2
    partition.save(tmp_path / "p.json")
    assert Partition.load(tmp_path / "p.json").spectrum == partition.spectrum


def test_warnings_reach_callers_where_all_eigenvalues_were_computed():
    both = {CrowdedThresholdWarning, DisassortativeWarning}
    for rows, columns, issued in ((15, 16, both), (30, 30, set())):
        partition = kgroups.detect_communities(nx.grid_2d_graph(rows, columns))
        warned = {type(warning) for warning in partition.report.warnings}
        assert warned == issued | {ContinuumWarning}
        assert {type(warning) for warning in partition.spectrum.warnings} == both


def test_repr_lists_k_where_the_choices_of_r_disagree(karate):
    spectrum = replace(karate.spectrum, k_at={"mean-degree": 2, "second-moment": 3})
    partition = Partition([0, 1], spectrum=spectrum)
    assert "the spectrum shows 2, too (mean-degree 2, second-moment 3)" in repr(partition)


@pytest.mark.parametrize("name", ["karate", "grid"])
def test_json_keeps_the_spectrum(request, tmp_path, name):
    partition = request.getfixturevalue(name)
    assert partition.spectrum.k
    partition.save(tmp_path / "p.json")
    again = Partition.load(tmp_path / "p.json")
    assert again == partition
    assert again.spectrum.to_dict() == partition.spectrum.to_dict()
    assert [type(w) for w in again.spectrum.warnings] == [
        type(w) for w in partition.spectrum.warnings
    ]


@pytest.mark.parametrize("name", ["karate", "grid"])
def test_pickling_keeps_graph_spectrum_and_report(request, name):
    partition = request.getfixturevalue(name)
    again = pickle.loads(pickle.dumps(partition))
    assert again == partition
    assert again.spectrum.to_dict() == partition.spectrum.to_dict()
    assert again.report.to_dict() == partition.report.to_dict()
    assert again.scores() == partition.scores()
    assert again.nodes is again.graph.nodes or again.nodes == again.graph.nodes


def test_nodes_are_the_callers_own(grid):
    assert nx.community.is_partition(nx.grid_2d_graph(12, 12), grid)
    assert all(isinstance(node, tuple) for community in grid for node in community)
    assert grid.disconnected == ()


def test_uninformed_nodes_are_listed_by_name():
    G = nx.relabel_nodes(nx.barbell_graph(6, 0), lambda i: f"n{i}")
    G.add_nodes_from(["lonely", "alone"])
    partition = kgroups.detect_communities(G, k=2)
    assert set(partition.uninformed) == {"lonely", "alone"}
    assert "2 nodes lie in components without signal" in repr(partition)
    assert partition.disconnected


def test_repr_speaks_of_the_r_that_was_given():
    partition = kgroups.detect_communities(
        nx.karate_club_graph(), operator=kgroups.BetheHessian(3.0)
    )
    assert "\n  the spectrum shows 1, too (r = 3)\n" in repr(partition)
    assert partition.spectrum.k == 1
    assert "\n  the spectrum shows 1, too (r = 3)\n" in repr(partition)
