"""Hartigan refinement, and the guard against a giant that swallows the rest."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import diagonal_of, rows_of
from kgroups._doors import check_choice
from kgroups._types import CSR, Floats, Ints
from kgroups.errors import InputError
from kgroups.hartigan import improve
from kgroups.hartigan.sweep import Candidates
from kgroups.operators import BoundBetheHessian
from kgroups.refine.likelihood import likelihood_moves, planted_fit

__all__ = ["Hartigan", "Refinement", "refine_labels"]

# Smallest node weight, in units of the mean degree.
_FAINTEST = 1e-6

Weights: TypeAlias = Literal["association", "uniform", "gram"]


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
        Groups that a node may join: those of its neighbours, or all.
    margin : float
        Edges that a move must be worth, in units of the mean entry of M. The first labels know
        more than a node's neighbours do, so a near-tie is left to them; 0 is the paper's rule.
    max_sweeps : int
        Sweeps over all nodes before giving up on convergence.
    guard : float or None
        How far the planted-partition likelihood of the refined labels may fall short of what moves
        on that likelihood itself reach from the same first labels, as a part of it. Labels that
        fall shorter have lost communities to one giant: the likelihood's moves are kept instead.
        ``None`` keeps the refined labels whatever they are, as the paper does.

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
        if not (_is_number(self.margin) and 0.0 <= self.margin < np.inf):
            msg = f"margin must be a number of edges >= 0, got {self.margin!r}."
            raise InputError(msg)
        if not (_is_number(self.max_sweeps) and self.max_sweeps >= 1 and self.max_sweeps % 1 == 0):
            msg = f"max_sweeps must be a whole number >= 1, got {self.max_sweeps!r}."
            raise InputError(msg)
        if self.guard is not None and not (_is_number(self.guard) and 0.0 <= self.guard < 1.0):
            msg = f"guard must be None or a number from 0 to below 1, got {self.guard!r}."
            raise InputError(msg)

    def objective(self, bound: BoundBetheHessian, d: Floats) -> tuple[CSR, Floats, Floats]:
        """Return M, its diagonal apart, and the node weights w; entries of M on it do not count."""
        M = bound.coupling
        diagonal = diagonal_of(M) - bound.diagonal
        if self.weights == "uniform":
            return M, diagonal, np.ones(bound.n)
        if self.weights == "association":
            return M, diagonal, bound.diagonal
        # A node without edges counts as one with an edge of mean weight. Degrees that are next to
        # nothing would be lost in the sums s_a.
        total = float(d.sum())
        lone = total / M.data.size if M.data.size else 1.0
        scale = np.where(d > 0.0, np.maximum(d, _FAINTEST * total / max(1, d.size)), lone)
        scaled = CSR(M.indptr, M.indices, scale[rows_of(M)] * M.data * scale[M.indices])
        return scaled, diagonal * scale * scale, scale


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


class Refinement(NamedTuple):
    """Labels after refinement, and the Hartigan moves that were made, kept or not."""

    z: Ints
    kept: Literal["hartigan", "likelihood moves", "first labels"]
    objective: float
    sweeps: int
    moves: int
    visits: int
    converged: bool


def refine_labels(
    bound: BoundBetheHessian, A: CSR, d: Floats, z: Ints, *, k: int, method: Hartigan
) -> Refinement:
    """Refine labels on a graph with adjacency A and row sums d; every group keeps a node."""
    M, diagonal, w = method.objective(bound, d)
    found = improve(
        M,
        diagonal,
        w,
        z,
        k=k,
        candidates=method.candidates,
        margin=method.margin,
        max_sweeps=method.max_sweeps,
    )
    labels = found.z
    kept: Literal["hartigan", "likelihood moves", "first labels"] = "hartigan"
    if method.guard is not None and k > 1:
        rival = likelihood_moves(A, d, z, k=k)
        reached = planted_fit(A, d, rival, k=k).gain
        if planted_fit(A, d, found.z, k=k).gain < (1.0 - method.guard) * reached:
            labels = rival
            kept = "first labels" if np.array_equal(rival, z) else "likelihood moves"
    return Refinement(
        labels, kept, found.objective, found.sweeps, found.moves, found.visits, found.converged
    )
