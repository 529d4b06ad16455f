"""The Bethe Hessian H_r, its normalised twin N_r, and the choices of r."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from kgroups._doors import check_choice
from kgroups._types import CSR, Floats, SelfLoops, Symmetrize
from kgroups.errors import InputError
from kgroups.operators.bound import BoundBetheHessian, rows_of
from kgroups.operators.nonbacktracking import nonbacktracking_radius
from kgroups.operators.saturation import R_FLOOR, saturate_at, saturate_at_mean_degree

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["R_CHOICES", "BetheHessian"]

RChoice: TypeAlias = Literal["mean-degree", "second-moment", "nonbacktracking"]
R_CHOICES: tuple[RChoice, ...] = ("mean-degree", "second-moment", "nonbacktracking")


@dataclass(frozen=True)
class BetheHessian:
    """The Bethe Hessian with a way to choose its parameter r."""

    r: float | RChoice = "mean-degree"

    def __post_init__(self) -> None:
        if isinstance(self.r, str):
            check_choice("r", self.r, R_CHOICES)
            return
        if (
            isinstance(self.r, bool | np.bool_)
            or not isinstance(self.r, int | float | np.integer | np.floating)
            or not (math.isfinite(self.r) and self.r > 0)
        ):
            listed = ", ".join(repr(choice) for choice in R_CHOICES)
            msg = f"r must be a finite number > 0 or one of {listed}, got {self.r!r}."
            raise InputError(msg)

    def bind(self, adjacency: CSR, *, weighted: bool) -> BoundBetheHessian:
        """Choose r for a graph and build the parts of H_r; internal."""
        n, nnz = len(adjacency.indptr) - 1, len(adjacency.indices)
        occupied = int(np.count_nonzero(np.diff(adjacency.indptr)))
        c = nnz / occupied if occupied else 0.0
        given = not isinstance(self.r, str)
        choice = "given" if given else str(self.r)
        trivial = nnz == 0 or (c <= 1.0 and not given)
        if weighted and nnz:
            return self._bind_weighted(adjacency, c, choice, trivial=trivial)
        if given:
            r = float(self.r)
            if not weighted and r <= 1.0:
                msg = f"r must be > 1 on an unweighted graph, got {self.r!r}."
                raise InputError(msg)
        else:
            r = max(R_FLOOR, self._unweighted_r(adjacency, c) if nnz else 0.0)
        d = np.diff(adjacency.indptr).astype(float)
        bare = 1.0 if weighted else r * r - 1.0
        coupling = CSR(adjacency.indptr, adjacency.indices, np.full(nnz, r))
        return BoundBetheHessian(r, choice, c, bare + d, coupling, bare, 0, trivial)

    def _unweighted_r(self, adjacency: CSR, c: float) -> float:
        if self.r == "mean-degree":
            return math.sqrt(c)
        if self.r == "second-moment":
            d = np.diff(adjacency.indptr).astype(float)
            return math.sqrt(max(0.0, float(d @ d) / float(d.sum()) - 1.0))
        return math.sqrt(nonbacktracking_radius(adjacency, np.ones(len(adjacency.indices))))

    def _bind_weighted(
        self, adjacency: CSR, c: float, choice: str, *, trivial: bool
    ) -> BoundBetheHessian:
        rows = rows_of(adjacency)
        if isinstance(self.r, str):
            weights = saturate_at_mean_degree(adjacency.data, c)
            bent = weights.bent
            if self.r != "mean-degree":
                r = self._weighted_r(adjacency, rows, weights.ratios)
                again = saturate_at(weights.ratios, r)
                weights = again._replace(r=r * weights.r)
                bent = bent | again.bent
        else:
            weights = saturate_at(adjacency.data, float(self.r))
            bent = weights.bent
        x = weights.ratios
        room = 1.0 - x * x
        n = len(adjacency.indptr) - 1
        diagonal = 1.0 + np.bincount(rows, weights=x * x / room, minlength=n)
        coupling = CSR(adjacency.indptr, adjacency.indices, x / room)
        loops = int(np.count_nonzero(bent & (rows == adjacency.indices)))
        saturated = (int(np.count_nonzero(bent)) + loops) // 2
        return BoundBetheHessian(weights.r, choice, c, diagonal, coupling, 1.0, saturated, trivial)

    def _weighted_r(self, adjacency: CSR, rows: Any, w: Floats) -> float:
        squares = np.square(w)
        if self.r == "second-moment":
            s = np.bincount(rows, weights=squares)
            total = float(squares.sum())
            square_of_r = float(s @ s) / total - float(squares @ squares) / total
        else:
            square_of_r = nonbacktracking_radius(adjacency, squares)
        typical = math.sqrt(float(squares.mean()))
        return max(R_FLOOR * typical, math.sqrt(max(0.0, square_of_r)))

    def radius(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> float:
        """Return the r that this operator uses on a graph."""
        return self._bind_graph(G, weight, symmetrize, self_loops).r

    def matrix(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return H_r as a sparse matrix."""
        return self._bind_graph(G, weight, symmetrize, self_loops).matrix()

    def normalized_matrix(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return N_r as a sparse matrix."""
        return self._bind_graph(G, weight, symmetrize, self_loops).normalized_matrix()

    def _bind_graph(
        self, G: Any, weight: str | None, symmetrize: Symmetrize | None, self_loops: SelfLoops
    ) -> BoundBetheHessian:
        from kgroups.adapters import as_graph

        check_choice("self_loops", self_loops, ("drop", "keep"))
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
        adjacency = graph.simple_adjacency(loops=self_loops == "keep")
        return self.bind(adjacency, weighted=graph.is_weighted)
