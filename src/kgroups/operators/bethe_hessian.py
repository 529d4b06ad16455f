"""The Bethe Hessian H_r, its normalised twin N_r, and the choices of r."""

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from kgroups._csr import rows_of
from kgroups._doors import check_choice
from kgroups._types import CSR, Ints, SelfLoops, Symmetrize
from kgroups.errors import InputError
from kgroups.operators.bound import BoundBetheHessian
from kgroups.operators.nonbacktracking import radius_above_entries
from kgroups.operators.rows import row_sums
from kgroups.operators.saturation import (
    R_FLOOR,
    SaturatedWeights,
    saturate_at,
    saturate_at_mean_degree,
)

if TYPE_CHECKING:
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator

__all__ = ["R_CHOICES", "BetheHessian", "RChoice"]

RChoice: TypeAlias = Literal["mean-degree", "second-moment", "nonbacktracking"]
R_CHOICES: tuple[RChoice, ...] = ("mean-degree", "second-moment", "nonbacktracking")

# In units of the largest weight. Already from n on H_r has no negative eigenvalue, whatever the
# graph; beyond 1e19 the entries of H_r leave the range of the 32-bit floats of large graphs.
_LARGEST_R = 1e9


@dataclass(frozen=True)
class BetheHessian:
    r"""The Bethe Hessian of a graph, with a rule for its parameter r.

    Without weights, with A the adjacency matrix, d = A1 and D = diag(d),

    .. math:: H_r = (r^2 - 1) I - r A + D, \quad \Delta_r = (r^2 - 1) I + D, \quad
        N_r = r \, \Delta_r^{-1/2} A \Delta_r^{-1/2}.

    With weights w,

    .. math:: H_{r,ij} = \delta_{ij} \Bigl(1 + \sum_l \frac{w_{il}^2}{r^2 - w_{il}^2}\Bigr)
        - \frac{r w_{ij}}{r^2 - w_{ij}^2},

    which for equal weights is the first form up to a factor, and exactly the same N_r.

    Parameters
    ----------
    r : {"mean-degree", "second-moment", "nonbacktracking"} or float
        The rule, or r itself. Let n' be the number of nodes with an edge and s_i the sum of
        :math:`w_{ij}^2`, which is the degree without weights.

        * ``"mean-degree"``: :math:`r^2 = \sum_{ij} w_{ij}^2 / n'`.
        * ``"second-moment"``: :math:`r^2 = (\sum_i s_i^2 - \sum_{ij} w_{ij}^4) / \sum_i s_i`.
        * ``"nonbacktracking"``: :math:`r^2 = \rho(B)`, where B leads from each directed edge to
          the edges that go on from its end, with entries :math:`w^2`.
        * a number is used as it is. It must be above 1 without weights. With weights it is in
          their unit. It must not exceed 1e9 times the largest weight, 1e9 without weights.

    Raises
    ------
    InputError
        If r is neither a rule nor a finite number above 0; when it meets a graph, if it is out of
        the range for the weights of that graph.

    Notes
    -----
    The weighted form needs every weight below r. A weight above 0.8 r (above the root mean
    square weight, if that is more) is bent smoothly towards a limit below r. Under
    ``"mean-degree"`` the sum then runs over the bent weights, r and they being found together, and
    the other two rules use the same bent weights. So one enormous weight does not hide
    all others, multiplying all weights by a constant changes nothing, and equal weights are
    never bent.

    A rule gives r >= 1.001 times the largest bent weight, 1 without weights, because at r = 1
    an isolated node would have a zero on the diagonal.

    References
    ----------
    .. [1] A. Saade, F. Krzakala, L. Zdeborova, "Spectral clustering of graphs with the Bethe
       Hessian", NeurIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = (np.array([0, 1, 2]), np.array([1, 2, 0]))
    >>> BetheHessian(r=2.0).matrix(triangle).toarray()
    array([[ 5., -2., -2.],
           [-2.,  5., -2.],
           [-2., -2.,  5.]])
    >>> round(BetheHessian().radius(triangle) ** 2, 9)
    2.0
    """

    r: float | RChoice = "mean-degree"

    def __post_init__(self) -> None:
        if isinstance(self.r, str):
            fits = self.r in R_CHOICES
        elif isinstance(self.r, bool | np.bool_):
            fits = False
        elif isinstance(self.r, int | float | np.integer | np.floating):
            # Comparing needs no conversion, which fails for huge whole numbers.
            fits = 0 < self.r <= sys.float_info.max
        else:
            fits = False
        if not fits:
            rules = ", ".join(repr(choice) for choice in R_CHOICES)
            msg = (
                f"r must be one of {rules} or a finite number > 0, got {self.r!r}.\n"
                '  Use BetheHessian() for the usual choice, r="mean-degree".'
            )
            raise InputError(msg)

    def radius(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> float:
        """Return the r that is used on a graph.

        Parameters
        ----------
        G : graph-like
            Anything that :func:`kgroups.as_graph` takes.
        weight : str or None
            Edge attribute that holds the weights; ``None`` ignores them.
        symmetrize : {"sum", "union"} or None
            How to make a directed graph undirected.
        self_loops : {"drop", "keep"}
            Kept self-loops are entries of the diagonal of A, and count once in the degree.

        Returns
        -------
        float
            In the unit of the weights, if there are weights.
        """
        return self._bind_graph(G, weight, symmetrize, self_loops).r

    def matrix(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return H_r as a sparse matrix; the parameters are those of :meth:`radius`."""
        return self._bind_graph(G, weight, symmetrize, self_loops).matrix()

    def normalized_matrix(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return N_r as a sparse matrix; the parameters are those of :meth:`radius`."""
        return self._bind_graph(G, weight, symmetrize, self_loops).normalized_matrix()

    def operator(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "LinearOperator":
        """Return H_r as a linear operator; the parameters are those of :meth:`radius`."""
        from kgroups.operators.linear import HessianOperator

        bound = self._bind_graph(G, weight, symmetrize, self_loops)
        return HessianOperator(bound.diagonal, bound.coupling_matrix())

    def normalized_operator(
        self,
        G: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "LinearOperator":
        """Return N_r as a linear operator; the parameters are those of :meth:`radius`."""
        from kgroups.operators.linear import NormalizedOperator

        bound = self._bind_graph(G, weight, symmetrize, self_loops)
        return NormalizedOperator(bound.diagonal, bound.coupling_matrix())

    def bind(self, adjacency: CSR, *, weighted: bool) -> BoundBetheHessian:
        """Choose r for one graph and build the parts of H_r.

        Parameters
        ----------
        adjacency : CSR
            Symmetric, columns sorted, all entries above 0; see ``Graph.simple_adjacency``.
        weighted : bool
            Whether the entries are weights; otherwise each counts 1.

        Returns
        -------
        BoundBetheHessian
        """
        n, nnz = len(adjacency.indptr) - 1, len(adjacency.indices)
        d = np.diff(adjacency.indptr)
        occupied = int(np.count_nonzero(d))
        c = nnz / occupied if occupied else 0.0
        given = not isinstance(self.r, str)
        self._check_not_too_large(adjacency, weighted=weighted)
        r_choice = "given" if given else str(self.r)
        trivial = nnz == 0 or (c <= 1.0 and not given)
        if weighted:
            rows = rows_of(adjacency)
            r, ratios, bent = self._weighted_ratios(adjacency, rows, c)
            room = 1.0 - np.square(ratios)
            terms, couplings, bare = np.square(ratios) / room, ratios / room, 1.0
            diagonal = bare + row_sums(rows, terms, n)
            loops = int(np.count_nonzero(bent & (rows == adjacency.indices)))
            saturated = (int(np.count_nonzero(bent)) + loops) // 2
        else:
            r = self._unweighted_r(adjacency, d, c)
            bare = r * r - 1.0
            diagonal, couplings, saturated = bare + d, np.full(nnz, r), 0
        coupling = CSR(adjacency.indptr, adjacency.indices, couplings)
        return BoundBetheHessian(r, r_choice, c, diagonal, coupling, bare, saturated, trivial)

    def _check_not_too_large(self, adjacency: CSR, *, weighted: bool) -> None:
        if isinstance(self.r, str):
            return
        largest = float(adjacency.data.max(initial=0.0)) if weighted else 1.0
        if not largest or float(self.r) / largest <= _LARGEST_R:
            return
        weights = f"weights up to {largest:.6g}" if weighted else "a graph without weights"
        msg = (
            f"r must not exceed {_LARGEST_R:g} times the largest weight, got r={self.r!r} for "
            f"{weights}: at such an r the Bethe Hessian has no negative eigenvalue.\n"
            "  Give r in the unit of the weights, or leave it to a rule as in BetheHessian()."
        )
        raise InputError(msg)

    def _unweighted_r(self, adjacency: CSR, d: Ints, c: float) -> float:
        if not isinstance(self.r, str):
            if self.r <= 1:
                msg = (
                    f"r must be > 1 on a graph without weights, got {self.r!r}: at r = 1 the Bethe "
                    "Hessian is the Laplacian, which has no negative eigenvalue.\n"
                    "  Give a larger r, or leave it to a rule as in BetheHessian()."
                )
                raise InputError(msg)
            return float(self.r)
        if self.r == "mean-degree":
            square = c
        elif self.r == "second-moment":
            square = float(np.square(d, dtype=float).sum()) / max(int(d.sum()), 1) - 1.0
        else:
            square = radius_above_entries(adjacency, np.ones(len(adjacency.indices)))
        return max(R_FLOOR, math.sqrt(max(square, 0.0)))

    def _weighted_ratios(self, adjacency: CSR, rows: Ints, c: float) -> SaturatedWeights:
        if not isinstance(self.r, str):
            return saturate_at(adjacency.data, float(self.r))
        if rows.size == 0:
            return SaturatedWeights(R_FLOOR, np.zeros(0), np.zeros(0, dtype=np.bool_))
        weights = saturate_at_mean_degree(adjacency.data, c)
        if self.r == "mean-degree":
            return weights
        squares = np.square(weights.ratios)
        if self.r == "second-moment":
            s = row_sums(rows, squares, len(adjacency.indptr) - 1)
            square = float(s @ s - squares @ squares) / float(squares.sum())
        else:
            square = radius_above_entries(adjacency, squares)
        largest = float(weights.ratios.max())
        relative = max(R_FLOOR * largest, math.sqrt(max(square, 0.0)))
        return SaturatedWeights(relative * weights.r, weights.ratios / relative, weights.bent)

    def _bind_graph(
        self, G: Any, weight: str | None, symmetrize: Symmetrize | None, self_loops: SelfLoops
    ) -> BoundBetheHessian:
        from kgroups.adapters import as_graph

        check_choice("self_loops", self_loops, ("drop", "keep"))
        graph = as_graph(G, weight=weight, symmetrize=symmetrize)
        adjacency = graph.simple_adjacency(loops=self_loops == "keep")
        return self.bind(adjacency, weighted=graph.is_weighted)
