from math import comb, factorial, lgamma, log

import networkx as nx
import numpy as np
import pytest

from kgroups.graph import Graph
from kgroups.refine import DescriptionLength, merge_communities, split_communities
from kgroups.refine.pieces import connected_pieces


def csr_of(G):
    G = nx.convert_node_labels_to_integers(G)
    edges = np.array(G.edges)
    return Graph.from_edges(edges[:, 0], edges[:, 1], n=len(G)).simple_adjacency()


def slow_length(G, z):
    """Count every code by whole-number arithmetic."""
    n, m, k = len(G), G.number_of_edges(), int(z.max()) + 1
    sizes = [int(np.sum(z == a)) for a in range(k)]
    inner = [sum(z[u] == z[v] == a for u, v in G.edges) for a in range(k)]
    degree = [sum(d for i, d in G.degree if z[i] == a) for a in range(k)]
    ways = factorial(n)
    for size in sizes:
        ways //= factorial(size)
    partition = log(comb(n - 1, k - 1)) + log(ways) - log(factorial(k))
    pairs = [size * (size - 1) // 2 for size in sizes]
    cut = m - sum(inner)
    one = log(m + 1) if k > 1 else 0.0
    own = sum(log(min(p, m) + 1) for p in pairs) if k > 1 else 0.0
    plain = min(
        log(comb(sum(pairs), sum(inner))) + one,
        sum(log(comb(p, e)) for p, e in zip(pairs, inner, strict=True)) + own,
    ) + log(comb(n * (n - 1) // 2 - sum(pairs), cut))
    alone = (
        log(comb(n + 2 * m - 1, 2 * m))
        + lgamma(2 * m + 1)
        - m * log(2)
        - lgamma(m + 1)
        - sum(lgamma(d + 1) for _, d in G.degree)
    )
    expected = [K * K / (4 * m) for K in degree]
    shared = sum(inner) * log(sum(inner) / sum(expected)) if sum(inner) else 0.0
    each = sum(e * log(e / x) for e, x in zip(inner, expected, strict=True) if e)
    between = cut * log(cut / (m - sum(expected))) if cut else 0.0
    return partition + min(plain, alone - max(shared - one, each - own) - between)


@pytest.mark.parametrize("seed", range(20))
def test_lengths_equal_whole_number_counts(seed):
    rng = np.random.default_rng(seed)
    G = nx.gnm_random_graph(int(rng.integers(6, 14)), int(rng.integers(8, 15)), seed=seed)
    k = int(rng.integers(1, 4))
    z = np.concatenate([np.arange(k), rng.integers(0, k, len(G) - k)])
    measure = DescriptionLength(csr_of(G))
    assert measure.of(csr_of(G), z, k) == pytest.approx(slow_length(G, z), rel=1e-10)
    assert measure.whole() == pytest.approx(slow_length(G, np.zeros_like(z)), rel=1e-10)


@pytest.mark.parametrize(
    ("G", "sizes"),
    [
        (nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]), [3, 3]),
        (nx.ring_of_cliques(4, 4), [4] * 4),
        (nx.ring_of_cliques(20, 5), [5] * 20),
        (nx.ring_of_cliques(60, 5), [5] * 60),
        (nx.connected_caveman_graph(12, 6), [6] * 12),
        (nx.windmill_graph(4, 5), [5, 4, 4, 4]),
    ],
)
def test_cliques_below_the_threshold_are_split_off(G, sizes):
    A = csr_of(G)
    found = split_communities(A, np.zeros(len(G), dtype=np.int64), k=1)
    assert sorted(np.bincount(found.z), reverse=True) == sizes
    assert found.saved > 0
    assert found.splits >= 1
    assert connected_pieces(A, found.z)[1] == found.k


@pytest.mark.parametrize(
    "G",
    [
        nx.complete_graph(10),
        nx.complete_bipartite_graph(5, 5),
        nx.cycle_graph(30),
        nx.path_graph(30),
        nx.star_graph(20),
        nx.balanced_tree(3, 4),
        nx.petersen_graph(),
        nx.wheel_graph(15),
    ],
)
def test_graphs_without_communities_stay_whole(G):
    found = split_communities(csr_of(G), np.zeros(len(G), dtype=np.int64), k=1)
    assert found.k == 1


@pytest.mark.statistical
@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: nx.gnm_random_graph(12, 20, seed=seed),
        lambda seed: nx.gnm_random_graph(60, 90, seed=seed),
        lambda seed: nx.gnm_random_graph(200, 600, seed=seed),
        lambda seed: nx.barabasi_albert_graph(150, 2, seed=seed),
        lambda seed: nx.random_regular_graph(3, 60, seed=seed),
    ],
)
def test_random_graphs_are_never_split(draw):
    """Kraft bounds the part of random graphs that x nats can be saved on by exp(-x)."""
    split = []
    for seed in range(40):
        G = draw(seed)
        G = G.subgraph(max(nx.connected_components(G), key=len))
        A = csr_of(G)
        split.append(split_communities(A, np.zeros(len(G), dtype=np.int64), k=1).k > 1)
    assert sum(split) == 0


def test_merges_stop_at_what_the_spectrum_found():
    G = nx.gnm_random_graph(60, 150, seed=0)
    A = csr_of(G.subgraph(max(nx.connected_components(G), key=len)))
    n = len(A.indptr) - 1
    z, k = connected_pieces(A, np.arange(n) % 3)
    owner = np.empty(k, dtype=np.int64)
    owner[z] = np.arange(n) % 3
    free = merge_communities(A, z, k=k, owner=np.zeros(k, dtype=np.int64))
    held = merge_communities(A, z, k=k, owner=owner)
    assert free.k == 1
    assert held.k == 3


def test_pieces_merge_only_inside_their_owner_unless_allowed_across():
    A = csr_of(nx.barbell_graph(6, 0))
    z = np.repeat(np.arange(6), 2)
    owner = np.array([0, 0, 0, 1, 1, 1])
    inside = merge_communities(A, z, k=6, owner=owner, across=False)
    assert inside.z.tolist() == [0] * 6 + [1] * 6


def test_random_halves_of_a_random_graph_are_not_shattered():
    G = nx.gnm_random_graph(300, 600, seed=4)
    A = csr_of(G.subgraph(max(nx.connected_components(G), key=len)))
    z = np.arange(len(A.indptr) - 1) % 2
    assert split_communities(A, z, k=2).k == 2
