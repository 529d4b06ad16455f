import networkx as nx
import numpy as np
import pytest

from kgroups.regimes import splits
from kgroups.regimes.splits import Splitter
from kgroups.seed.levels import Effort
from strategies_levels import level_of


def split(G, z, *, sample=False, seed=0):
    """Return labels after splits, and the splitter."""
    z = np.asarray(z, dtype=np.int32)
    splitter = Splitter(level_of(G), np.random.default_rng(seed), Effort())
    return splitter.labels(z, int(z.max()) + 1, sample=sample), splitter


def refines(fine, coarse):
    """Tell if every group of the first labels lies in one group of the second."""
    return len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == np.unique(fine).size


def test_cliques_that_were_merged_are_split():
    cliques = np.repeat(np.arange(8), 7)
    after, splitter = split(nx.ring_of_cliques(8, 7), cliques // 2)
    assert np.unique(after).size == 8
    assert refines(after, cliques)
    assert splitter.splits == 4


def test_a_group_that_stays_keeps_its_label():
    cliques = np.repeat(np.arange(8), 7)
    start = np.where(cliques < 2, 0, cliques - 1)
    after, splitter = split(nx.ring_of_cliques(8, 7), start)
    assert after[cliques >= 2].tolist() == start[cliques >= 2].tolist()
    assert np.unique(after).size == 8
    assert splitter.splits == 1


def test_splits_go_on_in_what_splits_have_made():
    """Squares of cliques in one group: halves first, if need be, then all."""
    G = nx.planted_partition_graph(12, 12, 0.9, 0.02, seed=2)
    after, _ = split(G, np.zeros(144))
    assert np.unique(after).size == 12
    assert refines(after, np.repeat(np.arange(12), 12))


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_stay_whole(seed):
    z = np.zeros(200, dtype=np.int32)
    after, splitter = split(nx.gnm_random_graph(200, 1_000, seed=seed), z, seed=seed)
    assert after.tolist() == z.tolist()
    assert splitter.splits == 0


@pytest.mark.parametrize("seed", range(20))
def test_splits_join_nothing(seed):
    """Groups of cliques and of blocks in random order, with a few edges between."""
    rng = np.random.default_rng(seed)
    parts = [
        nx.ring_of_cliques(int(rng.integers(3, 6)), int(rng.integers(4, 9)))
        if rng.random() < 0.5
        else nx.planted_partition_graph(3, int(rng.integers(8, 16)), 0.7, 0.05, seed=seed)
        for _ in range(int(rng.integers(2, 6)))
    ]
    start = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    G = nx.disjoint_union_all(parts)
    G.add_edges_from((u, v) for u, v in rng.integers(len(G), size=(10, 2)).tolist() if u != v)
    shuffled = rng.permutation(len(G))
    G = nx.relabel_nodes(G, dict(enumerate(shuffled.tolist())))
    H = nx.empty_graph(len(G))
    H.add_edges_from(G.edges)
    z = np.empty(len(G), dtype=np.int32)
    z[shuffled] = start
    after, splitter = split(H, z, seed=seed)
    assert refines(after, z)
    assert splitter.splits > 0


def test_a_sample_that_shows_nothing_ends_the_search(monkeypatch):
    """Of cliques that are right, none is split, and four in five are never tried."""
    cliques = np.repeat(np.arange(20), 6).astype(np.int32)
    read = []
    for sample in (True, False):
        after, splitter = split(nx.ring_of_cliques(20, 6), cliques, sample=sample)
        assert after.tolist() == cliques.tolist()
        read.append(splitter.effort.entries)
    assert 0 < read[0] < 0.3 * read[1]
    monkeypatch.setattr(splits, "_SAMPLED", 1_000)
    _, splitter = split(nx.ring_of_cliques(20, 6), cliques, sample=True)
    assert splitter.effort.entries == read[1]


def test_a_sample_that_shows_a_split_leads_to_all():
    cliques = np.repeat(np.arange(20), 6)
    after, _ = split(nx.ring_of_cliques(20, 6), cliques // 2, sample=True)
    assert np.unique(after).size == 20
