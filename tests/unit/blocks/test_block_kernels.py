"""What the tasks on blocks return, against slow functions of the whole graph."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from helpers.stores import random_edges, stored
from kgroups._parallel import Threads
from kgroups.blocks import OutOfCore, detection, tasks
from kgroups.blocks import search as block_search
from kgroups.blocks.journal import Journal
from kgroups.blocks.search import BlockSearch, connected_parts
from kgroups.blocks.tasks import Sweep, Totals, Work, group_totals
from kgroups.blocks.weighing import Weighing
from kgroups.graph import Graph
from kgroups.search import Search
from kgroups.search.climbing import MoveRules
from kgroups.search.levels import Level
from kgroups.search.objective import Objective, nats_saved

# Nats by which the series of a gain may be off where a group has more than eight times the links
# of a node.
SERIES = 0.05


def random_graph(seed, n=40, m=120, weighted=False):
    u, v, w = random_edges(n, m, seed)
    keep = u != v
    weights = np.exp(2.0 * w[keep]) if weighted else None
    # A list of edges has no isolated nodes.
    names, ends = np.unique(np.stack([u[keep], v[keep]]), return_inverse=True)
    return Graph.from_edges(*ends.reshape(2, -1), weights, n=names.size)


def work_on(graph, folder, z, *, block_entries=30, dispersion=1.0):
    """Return the work on a store of a graph, whose labels are given by rank, and who does it."""
    store = stored(graph, folder, block_entries=block_entries)
    labels = np.empty(store.n, dtype=np.int32)
    labels[store.position] = z
    work = Work(store, Weighing(1.0), np.where(labels < 0, -1, 0).astype(np.int32), Threads(2))
    engine = OutOfCore()
    engine.start(work)
    if store.weighted:
        detection._weigh(work, engine)
    else:
        work.weighing = Weighing(detection._total(store, labels >= 0))
    work.weighing = work.weighing._replace(dispersion=dispersion)
    if store.weighted:
        detection._add_up(work, engine)
    engine.relabel(labels)
    return work, engine


def dense(work):
    """Return the table of described weights between positions."""
    W = np.zeros((work.store.n, work.store.n))
    for info in work.store.blocks:
        block = work.store.read(info.number)
        rows = np.repeat(np.arange(block.first, block.last), np.diff(block.indptr))
        W[rows, block.indices] = work.weighing.described(block.weights).astype(float)
    assert np.array_equal(W, W.T)
    taking_part = work.z >= 0
    W[~taking_part] = W[:, ~taking_part] = 0.0
    return W


def totals_of(work, W, k):
    z = np.where(work.z < 0, k, work.z)
    E = [0.5 * W[np.ix_(z == a, z == a)].sum() for a in range(k)]
    K, N = group_totals(work, k)
    assert pytest.approx(np.bincount(z, W.sum(1), k + 1)[:k], rel=1e-12) == K
    assert np.array_equal(N, np.bincount(z, minlength=k + 1)[:k])
    return Totals(np.array(E), K, N)


def level_of(W):
    A = sparse.csr_array(W)
    n = len(W)
    arrays = A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data.astype(np.float32)
    ones = np.ones(n, dtype=np.int64)
    return Level(*arrays, W.sum(1), np.zeros(n), ones, np.array([0, n]))


def choices(work, totals, sweep):
    """Return the group that each position would join."""
    to = work.z.copy()
    for info in work.store.blocks:
        found = tasks.choose(work, info.number, totals, sweep)
        assert np.all((info.first <= found.nodes) & (found.nodes < info.last))
        to[found.nodes] = found.to
    return to


def rules():
    return MoveRules.of(Search(), np.random.default_rng(0))


@pytest.mark.parametrize("dispersion", [1.0, 3.7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 20])
def test_nodes_choose_the_group_that_saves_most(tmp_path, k, weighted, dispersion):
    moved = 0
    for seed in range(3):
        graph = random_graph(seed, m=(60, 200, 500)[seed], weighted=weighted)
        z = np.unique(np.random.default_rng(seed).integers(0, k, graph.n), return_inverse=True)[1]
        groups = int(z.max()) + 1
        work, _ = work_on(graph, tmp_path / str(seed), z, dispersion=dispersion)
        W = dense(work)
        totals, m = totals_of(work, W, groups), 0.5 * W.sum()
        objective = Objective.of_sizes(np.array([graph.n]), np.array([m]), dispersion)
        to = choices(work, totals, Sweep(m, objective, rules()))
        level = level_of(W)

        def saved(labels, level=level, objective=objective):
            names, labels = np.unique(labels, return_inverse=True)
            return float(nats_saved(level, labels, np.array([names.size]), objective)[0])

        now = saved(work.z)
        for i in range(graph.n):
            linked = np.unique(work.z[np.flatnonzero(W[i])])
            gains = {a: saved(np.where(np.arange(graph.n) == i, a, work.z)) - now for a in linked}
            gains[work.z[i]] = 0.0
            best = max(gains.values())
            single = np.bincount(work.z)[[work.z[i], to[i]]].tolist() == [1, 1]
            if to[i] != work.z[i] or not single:
                waits = any(
                    gains[a] >= best - SERIES and totals.N[a] == 1 == totals.N[work.z[i]]
                    and a > work.z[i] for a in linked
                )  # fmt: skip
                assert gains[to[i]] >= best - SERIES or waits
            moved += to[i] != work.z[i]
    assert moved


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 40])
def test_nodes_choose_the_group_of_highest_modularity(tmp_path, k, weighted):
    for seed in range(3):
        graph = random_graph(seed, m=(60, 200, 500)[seed], weighted=weighted)
        z = np.random.default_rng(seed).integers(0, k, graph.n)
        work, _ = work_on(graph, tmp_path / str(seed), z)
        W = dense(work)
        totals, m = totals_of(work, W, k), 0.5 * W.sum()
        penalty, d = 0.7 / (2.0 * m), W.sum(1)
        to = choices(work, totals, Sweep(m, None, rules(), penalty))
        links = np.stack([W[:, work.z == a].sum(1) for a in range(k)], axis=1)
        mine = np.arange(k) == work.z[:, None]
        value = links - penalty * d[:, None] * (totals.K - np.where(mine, d[:, None], 0.0))
        value[(links == 0.0) & ~mine] = -np.inf
        best = value.argmax(1)
        own, there = totals.N[work.z], totals.N[best]
        best = np.where((own == 1) & (there == 1) & (best > work.z), work.z, best)
        # Ties are decided by the order of the links.
        rows = np.arange(graph.n)
        assert np.all((to == best) | (value[rows, to] >= value[rows, best] - 1e-9))


def test_a_kept_number_keeps_groups_of_one_node(tmp_path):
    graph = random_graph(0)
    z = np.append(np.zeros(graph.n - 1, dtype=int), 1)
    work, _ = work_on(graph, tmp_path, z)
    W = dense(work)
    totals, m = totals_of(work, W, 2), 0.5 * W.sum()
    to = choices(work, totals, Sweep(m, None, rules()._replace(fixed_k=True), 1e-9))
    assert to[work.z == 1] == [1]


@pytest.mark.parametrize("apart", [False, True])
def test_parts_of_groups_are_those_that_are_connected(tmp_path, apart):
    for seed in range(5):
        graph = random_graph(seed, n=60, m=80)
        z = np.random.default_rng(seed).integers(-1 if apart else 0, 4, graph.n)
        work, engine = work_on(graph, tmp_path / str(seed), z, block_entries=10)
        W = dense(work)
        parts = connected_components(W * (work.z[:, None] == work.z))[1]
        roots = connected_parts(work, engine)
        first = np.array([np.flatnonzero(parts == part)[0] for part in parts])
        inside = work.z >= 0
        assert np.array_equal(roots[inside], first[inside])


def slowly_strongest(table, K, m, most):
    """Return which links of a table of groups are among the ``most`` of either end."""
    kept = np.zeros(table.shape, dtype=bool)
    for a in range(len(table)):
        others = np.flatnonzero(table[a])
        beyond = (K[a] * K[others] / (2.0 * m) - table[a, others]).astype(np.float32)
        if others.size:
            kept[a, others] = beyond <= np.sort(beyond)[min(most, others.size) - 1]
    return kept | kept.T


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("dense_groups", "most_links", "at_once"),
    [(1024, 64, 10**6), (2, 64, 10**6), (2, 64, 60), (2, 2, 100), (2, 1, 10**6)],
)
def test_the_graph_of_groups(
    tmp_path, monkeypatch, weighted, apart, dense_groups, most_links, at_once
):
    monkeypatch.setattr(block_search, "_DENSE_GROUPS", dense_groups)
    monkeypatch.setattr(block_search, "_MOST_LINKS", most_links)
    monkeypatch.setattr(block_search, "_GATHERED", at_once)
    k = 12
    for seed in range(2):
        graph = random_graph(seed, m=200, weighted=weighted)
        u, v, w = graph.edges()
        if apart:
            # Another component, which takes no part.
            u, v, w = (
                np.concatenate(pair) for pair in ((u, u + graph.n), (v, v + graph.n), (w, w))
            )
            graph = Graph.from_edges(u, v, w if weighted else None)
        z = np.random.default_rng(seed).integers(0, k, graph.n)
        z[random_graph(seed, m=200).n :] = -1
        work, engine = work_on(graph, tmp_path / str(seed), z)
        search = BlockSearch(work, engine, Search(), 0, Journal(tmp_path / str(seed) / "run"))
        search.k = k
        level, W = search.groups(), dense(work)
        totals = totals_of(work, W, k)
        assert search.m == 0.5 * W.sum()
        z = work.z
        table = np.array([[W[np.ix_(z == a, z == b)].sum() for b in range(k)] for a in range(k)])
        np.fill_diagonal(table, 0.0)
        if dense_groups < k:
            table *= slowly_strongest(table, totals.K, search.m, most_links)
        arrays = level.data.astype(float), level.indices, level.indptr
        found = sparse.csr_array(arrays, shape=(k, k)).toarray()
        assert np.array_equal(found, table.astype(np.float32))
        assert np.array_equal(level.inner, totals.E)
        assert np.array_equal(search.E, totals.E)
        assert np.array_equal(level.strength, totals.K)
        assert np.array_equal(level.nodes, totals.N)


def test_strongest_links_of_far_groups_are_not_mixed_up(tmp_path):
    rng, k, most = np.random.default_rng(0), 70_000, 3
    first = np.repeat(rng.choice(k, 200, replace=False), 5)
    second = np.concatenate([rng.choice(k, 5, replace=False) for _ in range(200)])
    links = np.empty(1_000, dtype=tasks._LINK)
    links["first"], links["second"] = np.sort(first), second
    links["weight"] = rng.integers(1, 5, 1_000)
    tasks.write_array(tmp_path / "links-0-0.npy", links)
    K = rng.random(k) * 100.0
    found = tasks.strongest_links(None, 0, str(tmp_path), [0], K, 1e3, most)
    kept = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    for a in np.unique(links["first"]):
        mine = links[links["first"] == a]
        beyond = (K[a] * K[mine["second"]] / 2e3 - mine["weight"]).astype(np.float32)
        chosen = mine["second"][beyond <= np.sort(beyond)[most - 1]]
        assert {b for one, b in kept if one == a} == set(chosen.tolist())
