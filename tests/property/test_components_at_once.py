"""Components that are searched at once are searched as each of them is alone."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.strategies_levels import ONE, connected_graphs, graph_of, labelings, weightings
from kgroups.search import finest_level
from kgroups.search.climbing import Searching


@st.composite
def dense_graphs(draw):
    """Draw cliques in a ring, or a random connected graph; both have cycles."""
    if draw(st.booleans()):
        return nx.ring_of_cliques(draw(st.integers(2, 5)), draw(st.integers(3, 6)))
    return draw(connected_graphs(max_nodes=20))


@st.composite
def unions(draw):
    """Draw a level of several components, with weights or none."""
    parts = draw(st.lists(dense_graphs(), min_size=2, max_size=4))
    G = nx.disjoint_union_all(parts)
    weights = draw(weightings(G))
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    A = graph_of(G, weights=weights).simple_adjacency()
    return finest_level(A, weighted=weights is not None, offsets=offsets)


def searching_of(level, seed=0, **options):
    return Searching(level, kg.Search(**options), np.random.default_rng(seed))


def assert_equal_to_blocks(level, found, which, search_alone):
    """Compare components with what a function of the component alone returns, bit for bit."""
    for c in which.tolist():
        alone, rows = search_alone(c, level.block(c)), level.rows(c)
        assert found.z[rows].tolist() == alone.z.tolist()
        assert found.undecided[rows].tolist() == alone.undecided.tolist()
        for column in ("k", "saved", "share"):
            assert getattr(found, column)[c] == getattr(alone, column)[0]


OPTIONS = st.sampled_from([{}, {"starts": 1}, {"treelike": 1.0}, {"significance": 0.0}])


@settings(max_examples=60)
@given(unions(), st.integers(0, 3), OPTIONS)
def test_the_search_at_once_is_that_of_each_component(level, seed, options):
    searching = searching_of(level, seed, **options)
    found = searching.search(searching.cyclic)
    visits = 0

    def alone(c, block):
        nonlocal visits
        one = searching_of(block, seed, **options)
        state = one.search(one.cyclic)
        visits += one.visits
        return state

    assert_equal_to_blocks(level, found, np.arange(level.sizes.size), alone)
    assert searching.visits == visits


@settings(max_examples=30)
@given(unions(), st.data())
def test_the_search_from_labels_is_that_of_each_component(level, data):
    labels = np.concatenate([data.draw(labelings(n))[0] for n in level.sizes.tolist()])
    found = searching_of(level).search(np.arange(level.sizes.size), labels=labels)

    def alone(c, block):
        return searching_of(block).search(ONE, labels=labels[level.rows(c)])

    assert_equal_to_blocks(level, found, np.arange(level.sizes.size), alone)


@settings(max_examples=30)
@given(unions(), st.data())
def test_the_search_from_spectra_is_that_of_each_component(level, data):
    """Every component counts as a large one that is locally a tree."""
    options = {"treelike": 1.0, "spectral_nodes": 0}
    known = [
        data.draw(st.none() | st.tuples(labelings(n), st.booleans())) for n in level.sizes.tolist()
    ]
    spectra = [None if one is None else (one[0][0], one[1]) for one in known]
    searching = searching_of(level, **options)
    found = searching.search(searching.cyclic, spectrum=spectra.__getitem__)

    def alone(c, block):
        return searching_of(block, **options).search(ONE, spectrum=lambda _: spectra[c])

    assert_equal_to_blocks(level, found, searching.cyclic, alone)


@settings(max_examples=40)
@given(unions(), st.data())
def test_components_that_are_not_searched_are_left_alone(level, data):
    parts = level.sizes.size
    which = np.array(sorted(data.draw(st.sets(st.integers(0, parts - 1), max_size=parts - 1))), int)
    found, everything = (searching_of(level).search(some) for some in (which, np.arange(parts)))
    asked, left_out = level.mask(which), np.delete(np.arange(parts), which)
    assert found.z[asked].tolist() == everything.z[asked].tolist()
    assert found.saved[which].tolist() == everything.saved[which].tolist()
    assert not found.z[~asked].any()
    assert found.k[left_out].tolist() == [1] * left_out.size
    assert not found.saved[left_out].any()


@settings(max_examples=40)
@given(unions(), st.data())
def test_stages_at_once_are_those_of_each_component(level, data):
    searching, everything = searching_of(level), np.arange(level.sizes.size)
    k = np.array([data.draw(st.integers(1, n)) for n in level.sizes.tolist()])
    labels = np.concatenate([data.draw(labelings(n))[0] for n in level.sizes.tolist()])
    number, cells = searching.given_number(k, everything), searching.cells(everything, start=2)
    groups = searching.modularity_groups(everything)
    improved = searching.improved(labels, everything)
    for c in everything.tolist():
        alone, rows = searching_of(level.block(c)), level.rows(c)
        assert number[rows].tolist() == alone.given_number(k[c : c + 1], ONE).tolist()
        assert np.unique(number[rows]).tolist() == list(range(k[c]))
        for (z, count), (own, own_count) in (
            (cells, alone.cells(ONE, start=2)),
            (groups, alone.modularity_groups(ONE)),
        ):
            assert z[rows].tolist() == own.tolist()
            assert count[c] == own_count[0]
        by_moves = alone.improved(labels[rows], ONE)
        assert improved.z[rows].tolist() == by_moves.z.tolist()
        assert improved.saved[c] == by_moves.saved[0]


class Delegate:
    """The default refinement, as a method of the caller."""

    def refine(self, problem, labels):
        return kg.Hartigan().refine(problem, labels)


FAINT = nx.disjoint_union_all(
    [nx.planted_partition_graph(2, 25 + 5 * seed, 0.3, 0.08, seed=seed) for seed in range(4)]
)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "method", [kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered")], ids=repr
)
@pytest.mark.parametrize(
    "options",
    [
        {"init": kg.KMeansInit(n_init=10)},
        {"refine": kg.Hartigan(margin=0.25, guard=0.2)},
        {"init": kg.KMeansInit(rows="normalized"), "refine": kg.Hartigan(max_sweeps=100)},
        # Another value that makes no difference on small graphs.
        {"init": kg.KMeansInit(max_work=1e12)},
        {"refine": Delegate()},
    ],
    ids=["n_init", "margin", "rows", "max_work", "delegate"],
)
def test_methods_that_equal_the_defaults_find_the_same(method, options):
    default = kg.detect_communities(FAINT, method=method, rng=3)
    assert kg.detect_communities(FAINT, method=method, rng=3, **options) == default


@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("method", [kg.Auto(), kg.Spectral("exact")], ids=repr)
def test_with_k_given_settings_that_equal_the_defaults_find_the_same(method, k):
    default = kg.detect_communities(FAINT, k, method=method, rng=3)
    options = {"init": kg.KMeansInit(n_init=10), "refine": kg.Hartigan(max_sweeps=100)}
    assert kg.detect_communities(FAINT, k, method=method, rng=3, **options) == default
