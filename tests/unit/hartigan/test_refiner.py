"""A refinement method that is defined outside of the package."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.backends.sklearn import GraphKGroups
from kgroups.errors import InputError
from kgroups.hartigan import Refinement, Refiner
from kgroups.search import Problem


@dataclass(frozen=True)
class MajorityVote:
    """Move each node to the group of most of its neighbors, one at a time."""

    max_sweeps: int = 10

    def refine(self, problem: Problem, labels: np.ndarray) -> Refinement:
        A, z, moves, sweeps, before = problem.A, labels.copy(), 0, 0, -1
        k = int(labels.max()) + 1
        while moves != before and sweeps < self.max_sweeps:
            sweeps, before = sweeps + 1, moves
            for i in range(z.size):
                own = slice(A.indptr[i], A.indptr[i + 1])
                votes = np.bincount(z[A.indices[own]], A.data[own], minlength=k)
                last = np.count_nonzero(z == z[i]) == 1
                if not last and votes.max() > votes[z[i]]:
                    z[i], moves = np.argmax(votes), moves + 1
        return Refinement(z, sweeps=sweeps, moves=moves, visits=sweeps * A.indices.size)


@dataclass(frozen=True)
class Broken:
    """Return labels that are wrong in some way."""

    change: object

    def refine(self, problem, labels):
        return Refinement(self.change(labels))


CLIQUES = nx.ring_of_cliques(8, 6)
EXPECTED = {frozenset(range(6 * a, 6 * a + 6)) for a in range(8)}


def test_methods_are_refiners():
    assert isinstance(MajorityVote(), Refiner)
    assert isinstance(kg.Hartigan(), Refiner)
    assert not isinstance(kg.KMeansInit(), Refiner)


@pytest.mark.parametrize(
    "method", [kg.Auto(), kg.Spectral("exact"), kg.Spectral("filtered")], ids=repr
)
@pytest.mark.parametrize("k", [None, 8])
def test_a_method_from_outside_refines_what_is_detected(method, k):
    found = kg.detect_communities(CLIQUES, k, method=method, refine=MajorityVote())
    assert set(found) == EXPECTED
    if k is not None or not isinstance(method, kg.Auto):
        # With Auto and k not given the search is sure of the cliques.
        assert found.report.refinement.components == 1
        assert found.report.refinement.sweeps >= 1
    assert found.report.refinement.method == "MajorityVote(max_sweeps=10)"


def test_an_estimator_takes_a_method_from_outside():
    model = GraphKGroups(8, refine=MajorityVote(), random_state=0)
    model.fit(nx.to_scipy_sparse_array(CLIQUES))
    assert set(model.partition_) == EXPECTED
    assert model.set_params(refine__max_sweeps=3).refine == MajorityVote(max_sweeps=3)


def test_a_method_from_outside_refines_a_partition():
    start = [i // 6 for i in range(48)]
    start[0], start[20] = 7, 0
    found = kg.refine_partition(CLIQUES, start, refine=MajorityVote())
    assert set(found) == EXPECTED
    summary = found.report.refinement
    assert (summary.moves, summary.kept) == (2, {"refined labels": 1})
    assert summary.sentence() == "Refinement: 2 sweeps, 2 moves, converged."


@pytest.mark.parametrize(
    "change",
    [
        lambda z: z[1:],
        lambda z: np.zeros_like(z),
        lambda z: z + 1,
        lambda z: z[:, None],
    ],
    ids=["too few", "one group", "out of range", "two axes"],
)
def test_labels_that_empty_a_group_are_refused(change):
    message = r"refine must return a label in range\(2\) for each of 34 nodes and leave no group"
    with pytest.raises(InputError, match=message):
        kg.refine_partition(
            nx.karate_club_graph(), [i % 2 for i in range(34)], refine=Broken(change)
        )


@pytest.mark.parametrize("wrong", ["hartigan", 3, kg.Hartigan, MajorityVote, kg.KMeansInit()])
def test_anything_else_is_no_refiner(wrong):
    message = r"refine must be Hartigan\(\), another Refiner, or None, got "
    with pytest.raises(InputError, match=message):
        kg.detect_communities(CLIQUES, refine=wrong)
    with pytest.raises(InputError, match=message):
        kg.refine_partition(CLIQUES, [0] * 48, refine=wrong)
