"""The benchmark harness: its graphs are what they claim, its timer gives up when told to."""

import numpy as np
import pytest

from benchmarks.graphs import make, planted_partition, why_absent
from benchmarks.measure import measure
from benchmarks.peers import PEERS


@pytest.fixture(scope="module")
def planted():
    return planted_partition("planted", n=3_000, k=6, degree=12.0, snr=1.5, seed=0)


def test_planted_partition_is_simple(planted):
    low = np.minimum(planted.source, planted.target)
    high = np.maximum(planted.source, planted.target)
    assert (low < high).all()
    assert np.unique(low * planted.n + high).size == planted.m


def test_planted_groups_are_equal_and_shuffled(planted):
    assert np.bincount(planted.truth).tolist() == [500] * 6
    assert np.unique(planted.truth[:500]).size == 6


def test_planted_edge_counts_are_within_five_standard_deviations(planted):
    a, b = 12 + 1.5 * 5 * np.sqrt(12), 12 - 1.5 * np.sqrt(12)
    inside = np.count_nonzero(planted.truth[planted.source] == planted.truth[planted.target])
    expected_inside, expected_across = a / 3_000 * 6 * 500 * 499 / 2, b / 3_000 * 15 * 500**2
    assert abs(inside - expected_inside) < 5 * np.sqrt(expected_inside)
    assert abs(planted.m - inside - expected_across) < 5 * np.sqrt(expected_across)


def test_planted_partition_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="snr at most sqrt"):
        planted_partition("planted", n=100, k=2, degree=4.0, snr=2.1, seed=0)
    with pytest.raises(ValueError, match="n must be a multiple of k"):
        planted_partition("planted", n=101, k=2, degree=4.0, snr=1.0, seed=0)


def test_bundled_and_drawn_graphs_are_always_there():
    assert why_absent("karate") is None
    assert why_absent("sbm-1k") is None


def test_absent_files_are_named_as_the_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "KGROUPS_DATA" in why_absent("football")


def test_karate_is_the_known_graph_without_weights():
    karate = make("karate", seed=0)
    assert (karate.n, karate.m, karate.true_k) == (34, 78, 2)


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peer_labels_every_node(name):
    peer = PEERS[name]
    if peer.installed_version is None:
        pytest.skip(f"{peer.distribution} is not installed")
    karate = make("karate", seed=0)
    labels = peer.find(peer.build(karate), 0)
    assert len(labels) == 34
    assert 1 < np.unique(labels).size < 34


def test_measure_counts_the_repeats_and_scores_them():
    (outcome,) = measure(
        make("karate", seed=0), ["igraph-leiden"], repeat=2, seed=0, max_seconds=60
    )
    assert outcome.trouble == ""
    assert len(outcome.seconds) == len(outcome.nmis) == len(outcome.amis) == 2
    assert all(0 < score <= 1 for score in outcome.nmis)
    assert outcome.modularities == pytest.approx([0.4198] * 2, abs=0.01)


def test_measure_gives_up_on_a_method_that_takes_too_long():
    slow = planted_partition("planted", n=20_000, k=2, degree=10.0, snr=1.0, seed=0)
    (outcome,) = measure(slow, ["networkx-greedy"], repeat=1, seed=0, max_seconds=0.5)
    assert outcome.trouble == "more than 0.5 s"
    assert outcome.median_seconds is None
