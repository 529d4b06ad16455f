from itertools import product

import networkx as nx
import numpy as np
import pytest

from helpers.oracles_levels import dense
from helpers.strategies_levels import graph_of, largest_part, level_of
from kgroups.generators import planted_partition
from kgroups.inference import BeliefPropagation, Learning, Schedule, block_model, propagate
from kgroups.metrics import nmi

KARATE = nx.karate_club_graph()
FACTIONS = np.array([int(KARATE.nodes[i]["club"] != "Mr. Hi") for i in range(34)])


def beliefs(level, z, k, *, own=False, max_sweeps=300, tolerance=1e-10, softness=0.1):
    """Return nats saved and marginals, with rates and group sizes learned in each sweep."""
    learning, schedule = (
        Learning("own" if own else "planted"),
        Schedule(max_sweeps - 1, 1, 1, tolerance, np.inf),
    )
    numbers, one = np.array([k]), np.zeros(1, dtype=np.int64)
    (found,) = propagate(
        block_model(level), np.asarray(z), numbers, one, learning, schedule, softness=softness
    )
    return found


def labels_of(found):
    """Return the most probable group of each node."""
    return np.argmax(found.marginals, axis=1)


def planted_level(n, k, degree, snr, seed):
    graph, truth = planted_partition(n, k, degree, snr, rng=seed)
    part, rows = largest_part(graph)
    return part.level, np.unique(truth[rows], return_inverse=True)[1]


@pytest.mark.parametrize(
    "G", [KARATE, nx.star_graph(9), nx.path_graph(2), nx.gnm_random_graph(60, 200, seed=1)]
)
def test_the_reverse_of_an_entry_is_its_mirror(G):
    level = level_of(G)
    A, reverse = level.A, block_model(level).reverse
    rows = np.repeat(np.arange(len(G)), np.diff(A.indptr))
    assert reverse[reverse].tolist() == list(range(A.indices.size))
    assert rows[reverse].tolist() == A.indices.tolist()
    assert A.indices[reverse].tolist() == rows.tolist()


@pytest.mark.parametrize("k", [2, 3, 7])
def test_marginals_are_probabilities(k):
    level = level_of(KARATE)
    marginals = beliefs(level, np.arange(34) % k, k).marginals
    assert marginals.shape == (34, k)
    assert (marginals >= 0.0).all()
    assert marginals.sum(axis=1) == pytest.approx(np.ones(34), abs=1e-12)


def test_names_of_groups_do_not_matter():
    level, truth = planted_level(300, 3, 10.0, 2.5, 0)
    names = np.array([2, 0, 1])
    one, other = (beliefs(level, labels, 3) for labels in (truth, names[truth]))
    assert other.evidence == pytest.approx(one.evidence, rel=1e-9)
    assert other.marginals[:, names] == pytest.approx(one.marginals, abs=1e-8)


def test_the_order_of_nodes_does_not_matter_where_it_converges():
    G = nx.planted_partition_graph(3, 30, 0.4, 0.03, seed=2)
    order = np.random.default_rng(0).permutation(90)
    H = nx.empty_graph(90)
    H.add_edges_from((int(order[u]), int(order[v])) for u, v in G.edges)
    z = np.repeat(np.arange(3), 30)
    moved = np.empty(90, dtype=np.int64)
    moved[order] = z
    one, other = beliefs(level_of(G), z, 3), beliefs(level_of(H), moved, 3)
    assert one.converged
    assert other.converged
    assert other.evidence == pytest.approx(one.evidence, rel=1e-6)
    assert other.marginals[order] == pytest.approx(one.marginals, abs=1e-6)


def test_weights_of_one_are_as_good_as_none():
    plain, equal = level_of(KARATE), level_of(KARATE, weights=np.full(78, 4.2))
    one, other = (beliefs(level, FACTIONS, 2) for level in (plain, equal))
    assert other.evidence == one.evidence
    assert other.marginals.tolist() == one.marginals.tolist()


def test_a_weight_of_two_is_a_factor_twice():
    """Weights that differ by rounding alone take the other branch, and give the same."""
    level = level_of(KARATE)
    nudged = level._replace(data=level.data * np.float32(1.0 + 1e-6))
    one, other = (beliefs(x, FACTIONS, 2) for x in (level, nudged))
    assert other.evidence == pytest.approx(one.evidence, rel=1e-4)
    assert other.marginals == pytest.approx(one.marginals, abs=1e-4)


@pytest.mark.compiled
@pytest.mark.parametrize(("own", "k"), [(False, 50), (True, 100)])
def test_hubs_stay_finite(own, k):
    """A product over 4000 neighbors leaves the range of floating point many times."""
    rng = np.random.default_rng(0)
    G = nx.star_graph(4_000)
    G.add_edges_from(rng.integers(1, 4_001, size=(8_000, 2)).tolist())
    G.remove_edges_from(nx.selfloop_edges(G))
    level, z = level_of(G), np.arange(4_001) % k
    if own:
        steps = {"em_steps": 2, "em_sweeps": 2, "max_sweeps": 2}
        found = BeliefPropagation(rates="own", degrees="corrected", **steps).infer(level, z, k)
    else:
        found = beliefs(level, z, k, max_sweeps=5)
    assert np.isfinite(found.evidence)
    assert np.isfinite(found.marginals).all()
    assert found.marginals.sum(axis=1) == pytest.approx(np.ones(4_001), abs=1e-9)


def test_sweeps_are_limited():
    level, truth = planted_level(400, 4, 10.0, 1.6, 0)
    assert not beliefs(level, truth, 4, max_sweeps=1, tolerance=1e-12).converged


def enumerated(A, z, k, softness=0.1, rounds=2_000):
    """Return nats saved and marginals by a sum over all labels, fields and rates self-consistent.

    A node feels the links to its neighbors exactly and all other nodes through their means.
    """
    n, d = len(A), A.sum(axis=1)
    m = d.sum() / 2
    q = m / (4.0 * m * m - np.sum(d * d))
    u, v = np.nonzero(np.triu(A))
    every = np.array(list(product(range(k), repeat=n)))
    same = every[:, u] == every[:, v]
    mean = (1.0 - softness) * np.eye(k)[z] + softness / k
    share, inside = mean.mean(axis=0), np.sum(A[u, v] * (z[u] == z[v]))
    for _ in range(rounds):
        total = d @ mean
        expected = q * np.sum(total**2 - d**2 @ mean**2)
        between = max(m - inside, 1e-3) / (m - expected)
        more = max(inside / expected, 1.001 * between) - between
        field = np.log(share) - 2.0 * q * more * d[:, None] * (total - d[:, None] * mean)
        logs = field[np.arange(n), every].sum(axis=1)
        logs += np.log(between + more * same) @ A[u, v]
        top = logs.max()
        p = np.exp(logs - top)
        saved = m * (1.0 - between) + more * expected + top + np.log(p.sum())
        p /= p.sum()
        mean = np.stack([p @ (every == a) for a in range(k)], axis=1)
        share, inside = mean.mean(axis=0), float(p @ same @ A[u, v])
    return float(saved), mean


STARS = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (5, 6), (5, 7), (5, 8)]
TREES = {
    "a path": (list(nx.path_graph(7).edges), [0, 0, 0, 0, 1, 1, 1]),
    "two stars": (STARS, [0] * 5 + [1] * 4),
    "three paths": (list(nx.from_prufer_sequence([0, 0, 1, 1, 2]).edges), [0, 1, 2, 0, 0, 1, 1]),
}


@pytest.mark.parametrize("name", TREES)
def test_beliefs_on_trees_are_sums_over_all_labels(name):
    edges, labels = TREES[name]
    G = nx.empty_graph(len(labels))
    G.add_edges_from(edges)
    level, z, k = level_of(G), np.array(labels), max(labels) + 1
    found = beliefs(level, z, k, tolerance=-1.0, max_sweeps=2_000)
    expected, mean = enumerated(dense(level.A), z, k)
    assert found.evidence == pytest.approx(expected, abs=1e-6)
    assert found.marginals == pytest.approx(mean, abs=1e-6)


def test_clear_communities_are_evident_and_kept():
    level, truth = planted_level(300, 3, 12.0, 3.0, 1)
    found = beliefs(level, truth, 3, max_sweeps=50, tolerance=1e-3)
    assert np.unique(labels_of(found)).size == 3
    assert found.converged
    assert found.evidence > 50.0
    m, n = level.strength.sum() / 2, truth.size
    cost = 0.5 * np.log(m) + np.log(n) - np.log(6.0)
    assert found.score(m, own_rates=False) == pytest.approx(found.evidence - cost, rel=1e-9)
    assert nmi(truth, labels_of(found)) > 0.95


def test_wrong_labels_are_put_right():
    level, truth = planted_level(400, 2, 12.0, 2.5, 3)
    rng = np.random.default_rng(0)
    start = np.where(rng.random(truth.size) < 0.25, 1 - truth, truth)
    found = beliefs(level, start, 2, max_sweeps=50, tolerance=1e-3)
    assert nmi(truth, labels_of(found)) > nmi(truth, start) + 0.3


@pytest.mark.statistical
@pytest.mark.compiled
@pytest.mark.parametrize(("snr", "least"), [(1.6, 40.0), (2.0, 500.0)])
def test_faint_communities_are_evident(snr, least):
    """Mean and sd of the seeds 0 to 7: 237 (40) and 879 (71) nats; bounds: 5 sd below."""
    for seed in range(3):
        level, truth = planted_level(2_000, 2, 8.0, snr, 50 + seed)
        found = beliefs(level, truth, 2, max_sweeps=50, tolerance=1e-3)
        assert found.evidence > (20.0 if snr < 2.0 else 460.0)


@pytest.mark.statistical
@pytest.mark.compiled
def test_random_graphs_have_no_evidence():
    """Stripes of a random graph fade to even marginals; most evidence of 20 graphs: 1e-8 nats."""
    for seed in range(5):
        G = nx.gnm_random_graph(500, 1_500, seed=seed)
        part, rows = largest_part(graph_of(G))
        found = beliefs(part.level, np.arange(rows.size) % 2, 2, max_sweeps=50, tolerance=1e-3)
        assert found.evidence < np.log(10.0)
