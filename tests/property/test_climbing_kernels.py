"""Kernels on levels of several components, each component against a slow twin of its own."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import oracles_levels as oracles
from helpers.kernels_levels import objective_of
from helpers.strategies_levels import (
    connected_graphs,
    groups_of,
    joined,
    labeled_levels,
    labelings,
    level_of,
    levels,
    rules_of,
    weightings,
)
from kgroups._progress import ENTRIES, MOVES, new_control
from kgroups.search import (
    Level,
    Objective,
    _search_nb,
    climb,
    coarsened,
    intersection,
    totals,
    woken,
)


class Several(NamedTuple):
    """Components side by side, their labels, and those of them that a kernel treats."""

    level: Level
    parts: list
    z: np.ndarray
    k: np.ndarray
    which: np.ndarray

    def each(self):
        """Yield the components that are treated: number, level, rows and labels."""
        for c in self.which.tolist():
            rows = self.level.rows(c)
            yield c, self.parts[c], rows, self.z[rows]


@st.composite
def several(draw):
    cases = draw(st.lists(labeled_levels(max_nodes=10), min_size=1, max_size=4))
    parts, labels, numbers = (list(column) for column in zip(*cases, strict=True))
    which = draw(st.sets(st.integers(0, len(cases) - 1), min_size=1))
    return Several(
        joined(parts), parts, np.concatenate(labels), np.array(numbers), np.array(sorted(which))
    )


def draw_labels(data, sizes):
    """Draw labels without gaps for blocks of these sizes; return them and their numbers."""
    drawn = [data.draw(labelings(int(size))) for size in sizes]
    return np.concatenate([z for z, _ in drawn]), np.array([k for _, k in drawn])


def permutation_within(data, level):
    """Draw an order of units that keeps components together."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    blocks = [first + rng.permutation(n) for first, n in zip(level.offsets, level.sizes)]  # noqa: B905
    return np.concatenate(blocks)


@given(several())
def test_components_that_are_left_out_have_no_units_on_a_coarser_level(case):
    control = new_control()
    groups = coarsened(case.level, case.z, case.k, case.which, control)
    assert control[ENTRIES] == case.level.entries[case.which].sum()
    sizes = np.zeros_like(case.k)
    sizes[case.which] = case.k[case.which]
    assert groups.sizes.tolist() == sizes.tolist()
    for c, part, _, z in case.each():
        Y = oracles.indicator(z, case.k[c])
        expected = Y.T @ oracles.dense(part.A) @ Y
        np.fill_diagonal(expected, 0.0)
        found, (E, K, N) = groups.block(c), oracles.totals(part, z, case.k[c])
        assert oracles.dense(found.A) == pytest.approx(expected, rel=1e-6)
        assert found.inner == pytest.approx(E, rel=1e-6)
        assert found.strength == pytest.approx(K, rel=1e-9)
        assert found.nodes.tolist() == N.tolist()


@given(several())
def test_groups_are_added_up_and_described_in_each_component(case):
    found = totals(case.level, case.z, case.k, case.which, objective_of(case.level))
    left_out = np.delete(np.arange(case.k.size), case.which)
    assert not found.saved[left_out].any()
    assert not found.sums[left_out].any()
    for c, part, _, z in case.each():
        rows = slice(*found.firsts[c : c + 2])
        E, K, N = oracles.totals(part, z, case.k[c])
        assert found.E[rows] == pytest.approx(E, rel=1e-9)
        assert found.K[rows] == pytest.approx(K, rel=1e-9)
        assert found.N[rows].tolist() == N.tolist()
        assert found.sums[c] == pytest.approx([E.sum(), K.sum(), K @ K], rel=1e-9)
        assert found.saved[c] == pytest.approx(oracles.nats_saved(part, z), rel=1e-9, abs=1e-6)


@given(several(), st.data())
def test_intersections_are_numbered_by_group_and_first_unit(case, data):
    y, _ = draw_labels(data, case.level.sizes)
    cells, count = intersection(case.level, case.z, case.k, y, case.which)
    assert not np.delete(count, case.which).any()
    for c, _, rows, z in case.each():
        expected = oracles.intersection(z, y[rows])
        assert cells[rows].tolist() == expected.tolist()
        assert count[c] == expected.max() + 1


@given(several(), st.data())
def test_units_wake_where_their_cell_or_that_of_a_neighbor_has_left(case, data):
    """The labels are the cells here."""
    top = coarsened(case.level, case.z, case.k, case.which, new_control())
    before, after = (draw_labels(data, top.sizes[case.which])[0] for _ in range(2))
    undecided = draw_labels(data, case.level.sizes)[0] == 1
    found = woken(case.level, top, case.z, before, after, undecided, case.which)
    expected = undecided.copy()
    for c, part, rows, z in case.each():
        own = top.rows(c)
        left = oracles.cells_that_left(top.nodes[own], before[own], after[own])[z]
        expected[rows] |= left | (oracles.dense(part.A)[:, left] > 0).any(axis=1)
    assert found.tolist() == expected.tolist()


@given(several())
def test_the_best_partner_is_the_neighbor_with_which_a_merge_saves_most(case):
    level, code = case.level, objective_of(case.level)
    own, gain = np.empty(level.n), np.full(level.n, 7.0)
    partner = np.full(level.n, -7, dtype=np.int32)
    arrays = code.edges, code.factorial, case.which, own, gain, partner
    _search_nb.best_partners(*level, *arrays)
    untouched = ~level.mask(case.which)
    assert (partner[untouched] == -7).all()
    assert (gain[untouched] == 7.0).all()
    for _, part, rows, _ in case.each():
        for a in range(part.n):
            others = part.indices[part.indptr[a] : part.indptr[a + 1]].tolist()
            best, found = int(partner[rows][a]) - rows.start, gain[rows][a]
            if not others:
                assert (partner[rows][a], found) == (-1, -np.inf)
                continue
            assert best in others
            assert found == pytest.approx(oracles.merge_gain(part, a, best), rel=1e-6, abs=1e-6)
            most = max(oracles.merge_gain(part, a, b) for b in others)
            assert found == pytest.approx(most, rel=1e-6, abs=1e-6)


@given(several(), st.data())
def test_pairs_merge_in_an_order_and_no_unit_twice(case, data):
    level, parts = case.level, case.k.size
    order = permutation_within(data, level)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    partner = permutation_within(data, level).astype(np.int32)
    partner[(partner == np.arange(level.n)) | (rng.random(level.n) < 0.2)] = -1
    most = rng.integers(0, 4, parts)
    into, k = np.full(level.n, -7, dtype=np.int32), np.zeros(parts, dtype=np.int64)
    work = level.scratch.work
    _search_nb.merge(order, level.offsets, case.which, partner, most, into, k, work)
    assert (into[~level.mask(case.which)] == -7).all()
    for c, part, rows, _ in case.each():
        own = np.where(partner[rows] < 0, -1, partner[rows] - rows.start)
        expected = oracles.merged_pairs(order[rows] - rows.start, own, int(most[c]))
        assert into[rows].tolist() == expected.tolist()
        assert k[c] == expected.max() + 1
        assert part.n - k[c] <= most[c]


@given(several(), st.data())
def test_loose_units_join_the_neighbor_that_saves_most(case, data):
    level, code = case.level, objective_of(case.level)
    order, loose = permutation_within(data, level), draw_labels(data, level.sizes)[0] > 0
    expected = {
        c: oracles.attached(part, loose[rows], order[rows] - rows.start)
        for c, part, rows, _ in case.each()
    }
    assume(all(labels is not None for labels in expected.values()))
    work, sums = level.scratch, (level.inner, level.strength, level.nodes)
    into, k = np.full(level.n, -7, dtype=np.int32), np.zeros(case.k.size, dtype=np.int64)
    arrays = *(column.copy() for column in sums), into, work.link, k, work.work
    tables = code.edges, code.of_size, code.tables
    _search_nb.attach(*level, *tables, case.which, order, loose, *arrays)
    assert (into[~level.mask(case.which)] == -7).all()
    for c, _, rows, _ in case.each():
        assert into[rows].tolist() == expected[c].tolist()
        assert k[c] == expected[c].max() + 1


@given(st.lists(connected_graphs(max_nodes=12), min_size=1, max_size=4), st.data())
def test_code_lengths_are_those_of_whole_numbers(graphs, data):
    parts = [level_of(G, weights=data.draw(weightings(G))) for G in graphs]
    level = joined(parts)
    code = Objective.of(level)
    for c, part in enumerate(parts):
        n, m, first = part.n, 0.5 * part.strength.sum(), code.tables[c]
        assert code.edges[c] == pytest.approx(m, rel=1e-12)
        of_size, of_number = oracles.code_lengths(n, m)
        assert code.of_size[first : first + n + 1] == pytest.approx(of_size, rel=1e-9, abs=1e-9)
        found = code.of_number[first + 2 : first + n + 1]
        assert found == pytest.approx(of_number[1:], rel=1e-9, abs=1e-9)
        assert code.of_number[first + 1] == -code.of_size[first + n]
        assert code.factorial[n] == pytest.approx(np.log(np.arange(1, n + 1)).sum(), abs=1e-9)


@given(
    several(),
    st.lists(st.sampled_from([0.2, 1.0]), max_size=2),
    st.sampled_from([1, 2, 1 << 30]),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.booleans(),
    st.integers(0, 3),
)
def test_components_climb_as_they_do_alone(case, temperatures, most, resolution, keep, start):
    """Bit for bit, and those that are left out keep their labels."""
    level, rules = case.level, rules_of(fixed_k=keep)
    most = 1 if keep else most
    code = objective_of(level)
    options = {"temperatures": np.array(temperatures), "levels": most, "start": start}
    penalty = resolution / (2.0 * code.edges)
    found = climb(level, code, case.z, case.which, rules, new_control(), penalty=penalty, **options)
    untouched = ~level.mask(case.which)
    assert found.z[untouched].tolist() == case.z[untouched].tolist()
    for c, part, rows, z in case.each():
        alone = climb(
            part,
            objective_of(part),
            z,
            np.zeros(1, dtype=np.int64),
            rules,
            new_control(),
            penalty=penalty[c : c + 1],
            **options,
        )
        assert found.z[rows].tolist() == alone.z.tolist()
        assert found.undecided[rows].tolist() == alone.undecided.tolist()
        for column in ("k", "saved", "share"):
            assert getattr(found, column)[c] == getattr(alone, column)[0]


@given(labeled_levels(), st.lists(st.sampled_from([0.2, 1.0, 3.0]), max_size=3))
def test_the_value_of_a_climb_on_all_levels_is_that_of_its_labels(case, temperatures):
    """Groups of groups move too: weights between them are of single precision."""
    level, z, _ = case
    one, heat = np.zeros(1, dtype=np.int64), np.array(temperatures)
    control, rules = new_control(), rules_of(max_visits=100)
    found = climb(level, objective_of(level), z, one, rules, control, temperatures=heat)
    assert found.z.tolist() == oracles.renumbered(found.z).tolist()
    assert found.k[0] == found.z.max() + 1
    after = oracles.nats_saved(level, found.z)
    assert found.saved[0] == pytest.approx(after, rel=1e-5, abs=1e-4)
    if not temperatures:
        assert after >= oracles.nats_saved(level, z) - 1e-4


@given(levels(max_nodes=10), st.data())
def test_a_climb_ends_where_no_merge_of_two_groups_gains(level, data):
    """Whole groups are moved too, so that none would gain by joining a neighbor."""
    z, _ = data.draw(labelings(level.n))
    one, rules = np.zeros(1, dtype=np.int64), rules_of(max_visits=1_000)
    for _ in range(100):
        control = new_control()
        found = climb(level, objective_of(level), z, one, rules, control)
        z = found.z
        if not control[MOVES]:
            break
    assert not control[MOVES]
    groups, saved = groups_of(level, z, int(found.k[0])), oracles.nats_saved(level, z)
    for a in range(groups.n):
        for b in groups.indices[groups.indptr[a] : groups.indptr[a + 1]].tolist():
            joint = oracles.nats_saved(level, np.where(z == a, b, z))
            assert joint - saved <= 1e-4 * max(1.0, abs(saved))
