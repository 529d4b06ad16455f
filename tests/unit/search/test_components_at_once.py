"""Kernels that treat many components at once, each against the function for one of them."""

import networkx as nx
import numpy as np
import pytest

from kgroups._progress import new_tally
from kgroups.adapters import as_graph
from kgroups.embedding import KMeansInit, informative_eigenpairs, trials_of
from kgroups.refine import Hartigan
from kgroups.search._faint_nb import communities_by_vectors, leading_vectors
from kgroups.search.candidates import by_eigenvectors
from kgroups.search.problem import Options, prepare
from kgroups.search.settings import Spectral

STARTS = KMeansInit().n_init


def parts(*, weighted, loops):
    """Return two faint planted graphs side by side as a problem."""
    graphs = [nx.planted_partition_graph(2, 20 + 5 * i, 0.4, 0.25, seed=i) for i in range(2)]
    G, rng = nx.disjoint_union_all(graphs), np.random.default_rng(0)
    G.add_edges_from((i, i) for i in range(0, len(G), 2) if loops)
    if weighted:
        # Loops are heavy, so that they matter.
        for u, v in G.edges:
            G.edges[u, v]["weight"] = rng.uniform(5.0, 9.0) if u == v else rng.uniform(0.5, 4.0)
    return prepare(as_graph(G), self_loops="keep").problem


def vectors_of(problem, columns):
    both, count = np.arange(2), np.full(2, columns)
    begin = np.concatenate([[0], np.cumsum(problem.sizes * columns)])
    offsets, small = problem.by_component[1], np.ones(2, dtype=np.bool_)
    return leading_vectors(problem.pieces, offsets, both, count, begin, small, new_tally()), begin


def communities(problem, k, vectors, begin, *, margin, guard, max_sweeps=100):
    """Return ``k`` communities of all components, and what refinement did."""
    which = np.arange(problem.n_components)
    width = 1 + k * trials_of(k)
    draws = np.random.default_rng(0).random(STARTS * width)
    return communities_by_vectors(
        problem.pieces,
        problem.by_component[1],
        which,
        np.full(which.size, k),
        vectors,
        begin[:-1],
        np.full(which.size, k),
        draws,
        np.zeros(which.size, dtype=np.int64),
        np.full(which.size, draws.size),
        STARTS,
        1e9,
        False,
        margin,
        max_sweeps,
        guard,
        new_tally(),
    )


CASES = [(weighted, loops) for weighted in (False, True) for loops in (False, True)]


@pytest.mark.parametrize(("weighted", "loops"), CASES)
def test_vectors_are_those_of_each_component_up_to_their_sign(weighted, loops):
    problem = parts(weighted=weighted, loops=loops)
    (vectors, tied), begin = vectors_of(problem, 3)
    assert not tied.any()
    for c in range(2):
        found = vectors[begin[c] : begin[c + 1]].reshape(-1, 3)
        _, V = informative_eigenpairs(problem.part(c)[1].bound, 3, "normalized")
        assert np.abs(found) == pytest.approx(np.abs(V), abs=1e-8)
        assert np.abs(np.sum(found * V, axis=0)) == pytest.approx(np.ones(3), abs=1e-8)


def test_equal_eigenvalues_are_told():
    """Those of a ring come in pairs, those of a planted graph differ."""
    G = nx.disjoint_union(nx.circulant_graph(12, [1, 2]), nx.karate_club_graph())
    problem = prepare(as_graph(G, weight=None)).problem
    assert vectors_of(problem, 2)[0][1].tolist() == [True, False]


@pytest.mark.parametrize(("weighted", "loops"), CASES)
@pytest.mark.parametrize("k", [2, 3])
def test_communities_and_their_refinement_are_those_of_each_component(weighted, loops, k):
    problem, refine = parts(weighted=weighted, loops=loops), Hartigan()
    (vectors, _), begin = vectors_of(problem, k)
    labels, done = communities(problem, k, vectors, begin, margin=refine.margin, guard=refine.guard)
    options = Options(Spectral("exact"), KMeansInit(), refine, problem.uneven, lambda stage: None)
    offsets = problem.by_component[1]
    for c in range(2):
        part = problem.part(c)[1]
        _, V = informative_eigenpairs(part.bound, k, "normalized")
        alone = by_eigenvectors(part, V, options, np.random.default_rng(0))
        own = labels[offsets[c] : offsets[c + 1]]
        pairs = np.unique(np.stack([own, alone.z]), axis=1)
        assert pairs.shape[1] == k == np.unique(own).size
        expected = alone.refinement
        assert done[c, 1:4].tolist() == [expected.sweeps, expected.moves, expected.visits]
        assert bool(done[c, 4]) is expected.converged
    assert done[:, 2].sum() > 0


def test_groups_of_eigenvectors_are_made_connected():
    """The ends of a path are alike, and its middle is not."""
    problem = prepare(as_graph(nx.path_graph(13))).problem
    ends = np.isin(np.arange(13), [0, 1, 2, 3, 4, 9, 10, 11, 12])
    vectors = np.column_stack([ends, ~ends]).astype(float).ravel()
    labels, done = communities(
        problem, 2, vectors, np.array([0, vectors.size]), margin=1e9, guard=-1.0
    )
    assert done[0, 2] == 0
    assert (labels[:5] == labels[0]).all()
    assert (labels[5:] == 1 - labels[0]).all()


def test_an_interrupt_leaves_the_components_after_it():
    problem = parts(weighted=False, loops=False)
    tally = new_tally()
    tally[2] = 1
    begin = np.concatenate([[0], np.cumsum(problem.sizes * 2)])
    small, count = np.ones(2, dtype=np.bool_), np.full(2, 2)
    vectors, _ = leading_vectors(
        problem.pieces, problem.by_component[1], np.arange(2), count, begin, small, tally
    )
    assert not vectors.any()
