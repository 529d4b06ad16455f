"""Super-groups: expected edges, the nats that they save, and the partition that saves most."""

import numpy as np
import pytest

from helpers import oracles_supergroups as oracles
from helpers.oracles_levels import renumbered
from kgroups._types import CSR
from kgroups.search import finest_level
from kgroups.search import scales as supergroups
from kgroups.search.scales import (
    GroupGraph,
    exceeds_chance,
    find_supergroups,
    scaling_factors,
    supergroup_nats,
)


def graph_of(e, dispersion=1.0):
    """Return the graph of groups with so many edges between them."""
    rows, columns = np.nonzero(e)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(e)))])
    # Counts stay as they are: weights would be scaled.
    A = CSR(indptr, columns.astype(np.int32), np.ones(rows.size))
    level = finest_level(A, weighted=False)
    return GroupGraph.of(level._replace(data=e[rows, columns].astype(np.float32)), dispersion)


def drawn(k, inside, outside, seed, size=4):
    """Draw edges between groups, more of them in a super-group of ``size`` consecutive ones."""
    rng, y = np.random.default_rng(seed), np.arange(k) // size
    weight = rng.uniform(0.5, 2.0, k)
    mean = np.outer(weight, weight) * np.where(y[:, np.newaxis] == y, inside, outside)
    e = np.triu(rng.poisson(mean), 1).astype(float)
    return e + e.T, y


@pytest.mark.parametrize("seed", range(5))
def test_expected_numbers_have_the_row_sums_of_the_observed_ones(seed):
    e, _ = drawn(9, 20.0, 5.0, seed)
    # A hub, as nearly all edges of a star are its own.
    e[0, 1:] += 100.0 * seed
    e[1:, 0] += 100.0 * seed
    a = scaling_factors(e.sum(axis=1))
    p = np.outer(a, a) - np.diag(a**2)
    assert np.all(a > 0)
    np.testing.assert_allclose(p.sum(axis=1), e.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(p, oracles.expected(e), rtol=1e-6, atol=1e-9)


def test_a_group_without_edges_has_none_expected():
    a = scaling_factors(np.array([3.0, 0.0, 2.0, 3.0]))
    assert a[1] == 0.0
    np.testing.assert_allclose(a * (a.sum() - a), [3.0, 0.0, 2.0, 3.0])


@pytest.mark.parametrize("sums", [[6.0, 1.0, 2.0, 3.0], [0.0] * 4, [1.0, 1.0, 0.0, 0.0]])
def test_stars_and_graphs_without_edges_have_no_expectation(sums):
    assert not scaling_factors(np.array(sums)).any()


@pytest.mark.parametrize("dispersion", [1.0, 2.5])
@pytest.mark.parametrize("seed", range(4))
def test_nats_are_those_of_a_slow_twin(seed, dispersion):
    e, _ = drawn(8, 12.0, 6.0, seed)
    rng, p, graph = np.random.default_rng(seed), oracles.expected(e), graph_of(e, dispersion)
    for q in (2, 3, 5, 7):
        y = renumbered(np.append(np.arange(q), rng.integers(0, q, 8 - q)))
        expected = oracles.nats(e, p, y, dispersion)
        assert supergroup_nats(graph, y) == pytest.approx(expected, abs=1e-5)


def test_nothing_is_saved_by_one_super_group_or_by_all_groups_apart():
    graph = graph_of(drawn(8, 12.0, 6.0, 0)[0])
    assert supergroup_nats(graph, np.zeros(8, dtype=np.int64)) == 0.0
    assert supergroup_nats(graph, np.arange(8)) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_no_partition_of_a_few_groups_saves_more(seed):
    e, y = drawn(7, 40.0, 8.0, seed)
    found, saved = find_supergroups(graph_of(e))
    p = oracles.expected(e, rounds=1_000)
    best = max(oracles.nats(e, p, y) for y in oracles.partitions(7) if 1 < max(y) + 1 < 7)
    assert best > 3.0
    assert saved[0] == pytest.approx(best, abs=1e-4)
    assert oracles.nats(e, p, found) == pytest.approx(best, abs=1e-4)
    assert renumbered(found).tolist() == y.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_no_move_of_a_group_saves_more(seed):
    e, _ = drawn(14, 9.0, 5.0, seed, size=3)
    e[:3, :3] += 9.0 * (1.0 - np.eye(3))
    (found, saved), p = find_supergroups(graph_of(e)), oracles.expected(e, rounds=1_000)
    models = {own: oracles.nats_of_model(e, p, found, shared=own) for own in (False, True)}
    shared = models[True] > models[False]
    assert saved[0] == pytest.approx(models[shared], abs=1e-4)
    for r in range(14):
        for label in range(found.max() + 2):
            other = found.copy()
            other[r] = label
            if 1 < np.unique(other).size < 14:
                assert oracles.nats_of_model(e, p, other, shared=shared) <= saved[0] + 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_chance_makes_no_super_groups(seed):
    for k in (4, 12, 30):
        y, saved = find_supergroups(graph_of(drawn(k, 8.0, 8.0, seed)[0]))
        assert saved.tolist() == [0.0]
        assert y.shape == (k,)


def test_super_groups_that_are_sparser_do_not_count():
    e, sparse = drawn(12, 1.0, 30.0, 0)
    graph, p = graph_of(e), oracles.expected(e, rounds=1_000)
    assert supergroup_nats(graph, sparse) < 0.0
    # What is denser lies across them.
    y, saved = find_supergroups(graph)
    assert saved[0] > 3.0
    for c in range(y.max() + 1):
        own = np.ix_(y == c, y == c)
        assert e[own].sum() >= p[own].sum()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_fewer_than_four_groups_have_no_super_groups(k):
    e = 10.0 * (1.0 - np.eye(k))
    assert find_supergroups(graph_of(e))[1].tolist() == [0.0]


def test_the_largest_eigenvalue_tells_super_groups_from_chance():
    assert exceeds_chance(graph_of(drawn(120, 8.0, 3.0, 0)[0]))
    assert not exceeds_chance(graph_of(drawn(120, 3.0, 3.0, 0)[0]))


def test_many_groups_are_merged_only_if_they_exceed_chance(monkeypatch):
    def never(*arguments):
        raise AssertionError

    e, y = drawn(120, 8.0, 3.0, 0, size=20)
    found, saved = find_supergroups(graph_of(e))
    assert saved[0] > 3.0
    assert renumbered(found).tolist() == y.tolist()
    monkeypatch.setattr(supergroups.kernels, "group_groups", never)
    assert find_supergroups(graph_of(drawn(120, 3.0, 3.0, 0)[0]))[1].tolist() == [0.0]


def test_parts_have_the_super_groups_that_they_have_alone():
    e, part = drawn(16, 40.0, 8.0, 1, size=2)[0], np.arange(16) * 7 % 16 // 8
    graph, order = graph_of(e).apart(part)
    y, saved = find_supergroups(graph)
    assert part[order].tolist() == [0] * 8 + [1] * 8
    for c in range(2):
        alone = graph_of(e[np.ix_(part == c, part == c)])
        own = slice(8 * c, 8 * c + 8)
        np.testing.assert_allclose(graph.a[own], alone.a)
        labels, nats = find_supergroups(alone)
        assert saved[c] == pytest.approx(nats[0])
        assert y[own].tolist() == labels.tolist()
