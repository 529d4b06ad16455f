"""Refinement of labels: what a method receives and returns, and Hartigan moves.

A new method is a class with a method ``refine``; see :class:`Refiner`. :class:`Hartigan` is guarded
by the likelihood of the planted partition model.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from kgroups._csr import diagonal_of, readonly, rows_of
from kgroups._progress import new_tally, run_interruptibly
from kgroups._types import CSR, Floats, Ints
from kgroups._validation import check_choice, check_integer, check_real, is_real
from kgroups.errors import InputError
from kgroups.hartigan import BACKGROUND_ENTRIES, Candidates, improve
from kgroups.multilevel import inner_weights
from kgroups.operators import BoundBetheHessian

# Smallest node weight in units of the mean degree; smaller ones would vanish in the sums s_a.
_LEAST_WEIGHT = 1e-6
Weights: TypeAlias = Literal["association", "uniform", "gram"]


class RefinementProblem(NamedTuple):
    """A graph whose labels are to be refined.

    Attributes
    ----------
    A : CSR of shape (n, n)
        Symmetric adjacency matrix.
    strength : ndarray of shape (n,)
        Row sums of A.
    bound : BoundBetheHessian
        The Bethe Hessian of the graph.
    k : int
        Number of groups, which stays.
    fast : bool
        Whether the graph may be large: then costly safeguards are run only after a loss.
    """

    A: CSR
    strength: Floats
    bound: BoundBetheHessian
    k: int
    fast: bool = False


class Refinement(NamedTuple):
    """Refined labels, and the work that they took.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels in ``range(k)``, none of them unused.
    kept : str
        Which labels these are, if a method chooses between several.
    objective : float
        The objective of the method after its last sweep.
    sweeps, moves, visits : int
        Sweeps over all nodes, nodes moved, and matrix entries read.
    converged : bool
        Whether no further sweep would change the labels.
    model : str
        The model that the method chose, if it chooses one.
    """

    z: Ints
    kept: str = "refined labels"
    objective: float = float("nan")
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    model: str = ""


@runtime_checkable
class Refiner(Protocol):
    """A refinement method, to be passed as ``refine=`` to :func:`kgroups.detect_communities`.

    Give it a ``repr`` that names its parameters, which the report shows. Equal values should
    compare equal, as frozen dataclasses do.

    Examples
    --------
    >>> class Unchanged:
    ...     def refine(self, problem, labels):
    ...         return Refinement(labels)
    >>> isinstance(Unchanged(), Refiner)
    True
    """

    def refine(self, problem: RefinementProblem, labels: Ints) -> Refinement:
        """Return labels of ``problem.k`` non-empty groups; ``labels`` is not modified."""


def refine_labels(refiner: Refiner, problem: RefinementProblem, labels: Ints) -> Refinement:
    """Refine labels, and raise unless every group keeps a node."""
    found = refiner.refine(problem, labels)
    z = np.asarray(found.z)
    if z.shape != labels.shape or not np.array_equal(np.unique(z), np.arange(problem.k)):
        msg = (
            f"refine must return a label in range({problem.k}) for each of {labels.size} nodes and "
            f"leave no group empty, got {found.z!r} from {refiner!r}."
        )
        raise InputError(msg)
    return found


@dataclass(frozen=True)
class Hartigan:
    """Refine labels by kernel k-groups on the Bethe Hessian.

    Parameters
    ----------
    weights : {"association", "uniform", "gram"}
        Matrix M and node weights w of the objective: ``"association"`` is M = -H_r with
        w = Δ_r (best on unequal degrees), ``"uniform"`` is M = -H_r with w = 1 (the paper's tables
        of real networks), ``"gram"`` is M = -D H_r D with w = d (its figure of block models).
    candidates : {"neighbors", "all"}
        Groups that a node may join: those of its neighbors, or all.
    margin : float
        Least gain of a move, in units of the mean entry of M. The first labels carry more
        information than the neighbors of one node, so they decide near-ties; 0 is the paper's
        rule.
    max_sweeps : int
        Sweeps over all nodes before giving up on convergence.
    guard : float or None
        How far the planted-partition likelihood of the refined labels may fall short of what moves
        on that likelihood itself reach from the same first labels, as a part of it. Labels that
        fall shorter have lost communities to one giant: the likelihood's moves are kept instead.
        ``None`` always keeps the refined labels, as the paper does.

    Examples
    --------
    >>> Hartigan()
    Hartigan(weights='association', candidates='neighbors', margin=0.25, max_sweeps=100, guard=0.2)
    >>> paper = Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)
    """

    weights: Weights = "association"
    candidates: Candidates = "neighbors"
    margin: float = 0.25
    max_sweeps: int = 100
    guard: float | None = 0.2

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, ("association", "uniform", "gram"))
        check_choice("candidates", self.candidates, ("neighbors", "all"))
        check_real("margin", self.margin, low=0.0, what="number of edges")
        check_integer("max_sweeps", self.max_sweeps)
        if self.guard is not None and not (is_real(self.guard) and 0.0 <= self.guard < 1.0):
            msg = f"guard must be None or a number from 0 to below 1, got {self.guard!r}."
            raise InputError(msg)

    def objective(self, bound: BoundBetheHessian, d: Floats) -> tuple[CSR, Floats, Floats]:
        """Return M, its diagonal, and the node weights w; M's own diagonal entries are ignored."""
        M = bound.coupling
        diagonal = diagonal_of(M) - bound.diagonal
        if self.weights == "uniform":
            return M, diagonal, np.ones(bound.n)
        if self.weights == "association":
            return M, diagonal, bound.diagonal
        # A node without edges has the weight of an edge of mean weight.
        total = float(d.sum())
        isolated = total / M.data.size if M.data.size else 1.0
        scale = np.where(d > 0.0, np.maximum(d, _LEAST_WEIGHT * total / max(1, d.size)), isolated)
        scaled = CSR(M.indptr, M.indices, scale[rows_of(M)] * M.data * scale[M.indices])
        return scaled, diagonal * scale * scale, scale

    def refine(self, problem: RefinementProblem, labels: Ints) -> Refinement:
        """Move nodes while the objective rises; the guard may replace the result."""
        A, d, bound, k, fast = problem
        M, diagonal, w = self.objective(bound, d)
        found = improve(
            M,
            diagonal,
            w,
            labels,
            k=k,
            candidates=self.candidates,
            margin=self.margin,
            max_sweeps=self.max_sweeps,
        )
        z, kept = found.z, "hartigan"
        if self.guard is not None and k > 1:
            z, kept = _guarded(A, d, labels, z, k=k, guard=self.guard, fast=fast)
        return Refinement(
            z, kept, found.objective, found.sweeps, found.moves, found.visits, found.converged
        )


class PlantedFit(NamedTuple):
    """Gain in nats over the graph without communities, and the rates that give it."""

    gain: float
    inside: float
    between: float


def planted_fit(A: CSR, strength: Floats, z: Ints, *, k: int) -> PlantedFit:
    r"""Fit edge rates inside and between groups, relative to degrees alone.

    .. math:: \ell(z) = E_{in} \ln\frac{E_{in}}{P_{in}} + E_{out} \ln\frac{E_{out}}{P_{out}},
        \quad P_{in} = \sum_a \frac{K_a^2}{4m}, \quad P_{out} = m - P_{in}

    The gain is 0 for disassortative groups. Weights are counted in units of their mean, so that
    their scale does not matter.
    """
    from kgroups.refine._likelihood_nb import fit_of_totals

    total = float(strength.sum())
    if total <= 0.0:
        return PlantedFit(0.0, 1.0, 1.0)
    inner = 2.0 * float(inner_weights(A, z, k).sum())
    groups = np.bincount(z, weights=strength, minlength=k)
    expected = float(groups @ groups) / total
    return PlantedFit(*fit_of_totals(len(A.indices), total, inner, expected))


def _guarded(
    A: CSR, strength: Floats, labels: Ints, z: Ints, *, k: int, guard: float, fast: bool
) -> tuple[Ints, str]:
    """Return the labels that the guard keeps, and their name."""
    from kgroups.refine import _likelihood_nb as kernels

    A, labels = readonly(A), labels.astype(np.int64, copy=False)
    arguments = A, strength, labels, z, k, float(guard), fast, new_tally()
    if A.indices.size > BACKGROUND_ENTRIES:
        z, name = run_interruptibly(kernels.guarded, *arguments)
    else:
        z, name = kernels.guarded(*arguments)
    return z, kernels.KEPT[name]
