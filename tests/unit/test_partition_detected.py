"""Partitions as detection returns them: with graph, spectrum and report."""

import pickle

import networkx as nx
import pytest

import kgroups
from kgroups.partition import Partition


@pytest.fixture(scope="module")
def karate():
    return kgroups.detect_communities(nx.karate_club_graph(), weight=None)


@pytest.fixture(scope="module")
def grid():
    return kgroups.detect_communities(nx.grid_2d_graph(12, 12))


def test_repr_says_how_sure_the_spectrum_is(karate):
    assert repr(karate).splitlines() == [
        f"Partition(2 communities of 34 nodes, sizes {karate.sizes[0]}, {karate.sizes[1]})",
        "  the spectrum says k = 2 at every choice of r",
    ]


def test_repr_shows_each_warning_once_and_shortened(grid):
    lines = repr(grid).splitlines()
    assert len(grid.spectrum.warnings) == len([line for line in lines if "warning: " in line]) > 0
    assert max(map(len, lines)) <= 100


def test_repr_lists_k_where_the_choices_of_r_disagree(karate):
    spectrum = type(karate.spectrum).from_dict(
        {**karate.spectrum.to_dict(), "k_at": {"mean-degree": 2, "second-moment": 3}}
    )
    partition = Partition([0, 1], spectrum=spectrum)
    assert "the spectrum says k = 2 (mean-degree), 3 (second-moment)" in repr(partition)


@pytest.mark.parametrize("name", ["karate", "grid"])
def test_json_keeps_the_spectrum(request, tmp_path, name):
    partition = request.getfixturevalue(name)
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
    assert "2 nodes without information" in repr(partition)
    assert partition.disconnected
