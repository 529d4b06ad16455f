"""Operators: matrices of a graph whose eigenvalues above a threshold show communities.

An operator is a class with a method ``bind``, which returns the coupling, the diagonal and the
threshold for one graph. The Bethe Hessian is the default.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    runtime_checkable,
)

import numpy as np

from kgroups._blas import DENSE, DenseLimits, single_threaded
from kgroups._csr import block, constant, restricted, row_lengths, row_sums, rows_of, two_core
from kgroups._types import CSR, Bools, Floats, Ints, SelfLoops, Symmetrize
from kgroups._validation import changed_options, check_choice, is_real
from kgroups.adapters import as_graph
from kgroups.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse

RChoice: TypeAlias = Literal["mean-degree", "second-moment", "nonbacktracking"]
R_CHOICES: tuple[RChoice, ...] = ("mean-degree", "second-moment", "nonbacktracking")
NOISE = 1e-9
"""Eigenvalues this close to the threshold, in units of it, are not above it."""
R_FLOOR = 1.001
"""Smallest r in units of the largest weight: at r = 1 an isolated node has a zero diagonal."""
# Largest r in units of the largest weight. From r = n on, H_r has no negative eigenvalue on any
# graph; beyond 1e19 its entries overflow the 32-bit floats that are used on large graphs.
_LARGEST_R = 1e9
# Weights up to this share of r are left unchanged.
_UNSATURATED = 0.8
# Smallest weight in units of the largest; the squares of smaller ones would underflow.
_SMALLEST_WEIGHT = 1e-150
# Variance of the degrees over their mean, which is 1 for edges at random, above which they are
# uneven. Measured: at most 1.12 in block models, 7.8 and more with power laws.
_DISPERSION = 1.3
# The 2-core gives the mean degree if more than this share of the nodes are leaves, and if it is
# denser than the graph by more than this factor: then the leaves, not the graph, are sparse.
_MANY_LEAVES = 0.3
_MUCH_DENSER = 1.5
# Relative error of the radius.
_TOLERANCE = 1e-9
# Closer to the largest entry the root cannot be distinguished from it in double precision.
_FLOOR = 1.0 + 1e-7
# Power iterations before the root search, on small and on large graphs; and instead of it, where
# ARPACK fails.
_STEPS_SMALL, _STEPS_LARGE, _STEPS_ALONE = 20, 60, 2_000


def above_threshold(values: Floats) -> Bools:
    """Return which eigenvalues, in units of the threshold, show communities."""
    return values > 1.0 + NOISE


@runtime_checkable
class Operator(Protocol):
    """What :func:`kgroups.detect_communities` takes as ``operator``."""

    def bind(self, adjacency: CSR, *, weighted: bool) -> "BoundOperator":
        """Return the operator on one graph.

        Parameters
        ----------
        adjacency : CSR
            Symmetric, columns sorted, all entries above 0; see ``Graph.simple_adjacency``.
        weighted : bool
            Whether the entries are weights; otherwise each counts 1.
        """
        ...


def check_operator(operator: object) -> None:
    """Raise unless this is an operator."""
    # The usual class comes first because checking a protocol takes long.
    is_operator = isinstance(operator, (BetheHessian, Operator))
    # A class with a method bind is no operator, but its instances are.
    if not is_operator or isinstance(operator, type):
        msg = f"operator must be BetheHessian() or another Operator, got {operator!r}."
        raise InputError(msg)


@dataclass(frozen=True, eq=False)
class BoundOperator:
    r"""An operator on one graph: its coupling G, its diagonal and its threshold.

    .. math:: H = \theta \, \mathrm{diag}(\Delta) - G, \quad
        N = \mathrm{diag}(\theta \Delta)^{-1/2} \, G \, \mathrm{diag}(\theta \Delta)^{-1/2}

    Eigenvalues of N are in units of the threshold: those above 1 show communities, and H has as
    many negative ones. All others should lie between -1 and 1.

    Attributes
    ----------
    coupling : CSR
        Symmetric and non-negative, with the pattern of the adjacency matrix.
    diagonal : ndarray of shape (n,)
        Positive.
    threshold : float
        Positive.
    r, r_choice : float and str, or None
        The parameter of the Bethe Hessian, in units of the weights if there are weights, and how
        it was chosen: "mean-degree", "second-moment", "nonbacktracking" or "given". None for other
        operators.
    saturated : int
        Number of edges whose weight was reduced because it came near r.
    """

    coupling: CSR
    diagonal: Floats
    threshold: float = 1.0
    r: float | None = field(default=None, kw_only=True)
    r_choice: str | None = field(default=None, kw_only=True)
    saturated: int = field(default=0, kw_only=True)

    ignores_trees: ClassVar[bool] = False
    """Whether trees and single cycles, alone or attached, add no eigenvalue above the threshold."""

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.diagonal)

    @property
    def nnz(self) -> int:
        """Number of entries of the coupling."""
        return len(self.coupling.indices)

    @property
    def scale(self) -> Floats:
        """The threshold times the diagonal."""
        return self.diagonal if self.threshold == 1.0 else self.threshold * self.diagonal

    @cached_property
    def normalized(self) -> CSR:
        """The matrix N."""
        scale = 1.0 / np.sqrt(self.scale)
        indptr, indices, data = self.coupling
        scaled = data * np.repeat(scale, np.diff(indptr)) * scale[indices]
        return CSR(indptr, indices, scaled)

    def coupling_matrix(self) -> "sparse.csr_array":
        """Return the coupling as a sparse matrix."""
        return _as_matrix(self.coupling)

    def matrix(self) -> "sparse.csr_array":
        """Return H as a sparse matrix."""
        from scipy import sparse

        return (sparse.diags_array(self.scale, format="csr") - self.coupling_matrix()).tocsr()

    def normalized_matrix(self) -> "sparse.csr_array":
        """Return N as a sparse matrix."""
        return _as_matrix(self.normalized)

    def restrict(self, rows: Ints) -> Self:
        """Return the principal part on ``rows``, in that order, with an unchanged diagonal."""
        return replace(self, diagonal=self.diagonal[rows], coupling=restricted(self.coupling, rows))

    def block(self, start: int, stop: int) -> Self:
        """Return the principal part on consecutive rows, with an unchanged diagonal."""
        return replace(
            self, diagonal=self.diagonal[start:stop], coupling=block(self.coupling, start, stop)
        )

    def on_core(self, rows: Ints) -> Self:
        """Return the operator of the subgraph that is left when attached trees are removed."""
        return self.restrict(rows)

    def for_part(self, A: CSR, *, weighted: bool) -> "BoundOperator":
        """Return the operator that suits a part of a graph by itself, with adjacency matrix A."""
        del A, weighted
        return self

    def search_weights(self, A: CSR) -> CSR:
        """Return the weights that the search for communities describes, from those of the edges."""
        return A


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
    square weight, if that is more) is saturated: it is moved smoothly towards a limit below r.
    Under ``"mean-degree"`` the sum then runs over the saturated weights, which are found together
    with r, and the other two rules use the same saturated weights. So a single enormous weight
    does not hide all others, multiplying all weights by a constant changes nothing, and equal
    weights are never saturated.

    A rule gives r >= 1.001 times the largest saturated weight, or 1.001 without weights, because
    at r = 1 an isolated node would have a zero on the diagonal.

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

    __repr__ = changed_options

    def __post_init__(self) -> None:
        known = self.r in R_CHOICES if isinstance(self.r, str) else is_real(self.r) and self.r > 0
        if not known:
            rules = ", ".join(repr(choice) for choice in R_CHOICES)
            msg = (
                f"r must be one of {rules} or a finite number > 0, got {self.r!r}.\n"
                '  Use BetheHessian() for the usual choice, r="mean-degree".'
            )
            raise InputError(msg)

    def radius(
        self,
        graph: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> float:
        """Return the r that is used on a graph.

        Parameters
        ----------
        graph : graph-like
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
        return self._bind_graph(graph, weight, symmetrize, self_loops).r

    def matrix(
        self,
        graph: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return H_r as a sparse matrix; the parameters are those of :meth:`radius`."""
        return self._bind_graph(graph, weight, symmetrize, self_loops).matrix()

    def normalized_matrix(
        self,
        graph: Any,
        *,
        weight: str | None = "weight",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
    ) -> "sparse.csr_array":
        """Return N_r as a sparse matrix; the parameters are those of :meth:`radius`."""
        return self._bind_graph(graph, weight, symmetrize, self_loops).normalized_matrix()

    def bind(self, adjacency: CSR, *, weighted: bool) -> "BoundBetheHessian":
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
        d = row_lengths(adjacency)
        occupied = int(np.count_nonzero(d))
        c = nnz / occupied if occupied else 0.0
        self._check_not_too_large(adjacency, weighted=weighted)
        r_choice = self.r if isinstance(self.r, str) else "given"
        if weighted:
            rows = rows_of(adjacency)
            r, ratios, high = self._weighted_ratios(adjacency, rows, c)
            rest = 1.0 - np.square(ratios)
            terms, couplings, isolated = np.square(ratios) / rest, ratios / rest, 1.0
            diagonal = isolated + row_sums(rows, terms, n)
            loops = int(np.count_nonzero(high & (rows == adjacency.indices)))
            saturated = (int(np.count_nonzero(high)) + loops) // 2
        else:
            r = self._unweighted_r(adjacency, d, c)
            isolated = r * r - 1.0
            diagonal, couplings, saturated = isolated + d, constant(r, nnz), 0
        coupling = CSR(adjacency.indptr, adjacency.indices, couplings)
        return BoundBetheHessian(
            coupling,
            diagonal,
            r=r,
            r_choice=r_choice,
            saturated=saturated,
            c=c,
            isolated_diagonal=isolated,
        )

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

    def _weighted_ratios(self, adjacency: CSR, rows: Ints, c: float) -> "SaturatedWeights":
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
        return SaturatedWeights(relative * weights.r, weights.ratios / relative, weights.saturated)

    def _bind_graph(
        self, graph: Any, weight: str | None, symmetrize: Symmetrize | None, self_loops: SelfLoops
    ) -> "BoundBetheHessian":
        check_choice("self_loops", self_loops, ("drop", "keep"))
        source = as_graph(graph, weight=weight, symmetrize=symmetrize)
        adjacency = source.simple_adjacency(loops=self_loops == "keep")
        return self.bind(adjacency, weighted=source.is_weighted)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundBetheHessian(BoundOperator):
    r"""The Bethe Hessian of one graph.

    The coupling is ``r A`` unweighted and ``r w / (r**2 - w**2)`` weighted; kept self-loops stand
    on its diagonal. The diagonal is ``r**2 - 1 + d``, or ``1 + sum(w**2 / (r**2 - w**2))``.

    Attributes
    ----------
    c : float
        Mean number of entries of a row, over the rows that have one.
    isolated_diagonal : float
        What the diagonal is on a node without edges.
    """

    r: float
    r_choice: str
    c: float
    isolated_diagonal: float

    ignores_trees: ClassVar[bool] = True

    def on_core(self, rows: Ints) -> Self:
        """Return H of the subgraph induced by ``rows``, with r unchanged.

        Unlike in :meth:`restrict` the diagonal loses the terms of the removed edges. Removing a
        node of degree 1 is a step of Gaussian elimination with a positive pivot, so H has as many
        negative eigenvalues on the 2-core as on the graph.
        """
        part = self.restrict(rows)
        # With g the coupling and b the diagonal of an isolated node, an edge adds the e with
        # e (e + b) = g^2.
        half = self.isolated_diagonal / 2.0
        terms = np.sqrt(half * half + np.square(part.coupling.data)) - half
        diagonal = self.isolated_diagonal + row_sums(rows_of(part.coupling), terms, part.n)
        return replace(part, diagonal=diagonal)

    def for_part(self, A: CSR, *, weighted: bool) -> "BoundBetheHessian":
        """Return the Bethe Hessian with the r of the part's mean degree, if a rule has chosen r.

        The mean degree of a whole graph of many small components says nothing about a large one,
        whose moments measure a signal-to-noise ratio only at its own r. Thousands of leaves at one
        hub do not count either: where the 2-core is much denser, its mean degree is taken.
        """
        if self.r_choice == "given":
            return self
        lengths = row_lengths(A)
        c = float(lengths.sum()) / max(1, int(np.count_nonzero(lengths)))
        operator = BetheHessian(self.r_choice)  # type: ignore[arg-type]
        if not weighted and np.count_nonzero(lengths == 1) > _MANY_LEAVES * len(lengths):
            kept = two_core(A)
            inside = kept[rows_of(A)] & kept[A.indices]
            core = float(np.count_nonzero(inside)) / max(1, int(np.count_nonzero(kept)))
            if core > _MUCH_DENSER * c:
                operator, c = BetheHessian(np.sqrt(core)), core
        return self if c == self.c else operator.bind(A, weighted=weighted)

    def search_weights(self, A: CSR) -> CSR:
        """Return the saturated weights that the coupling was made of, in units of r."""
        del A
        indptr, indices, coupling = self.coupling
        # The coupling is x / (1 - x^2) of the weight x in units of r; solve for x.
        twice = 2.0 * coupling
        return CSR(indptr, indices, twice / (1.0 + np.sqrt(1.0 + np.square(twice))))


def _as_matrix(csr: CSR) -> "sparse.csr_array":
    from scipy import sparse

    n, data = len(csr.indptr) - 1, np.ascontiguousarray(csr.data)
    return sparse.csr_array((data, csr.indices, csr.indptr), shape=(n, n))


def degrees_are_uneven(A: CSR) -> bool:
    """Return whether hubs shift the spectrum: the variance of the degrees far exceeds the mean."""
    d = np.diff(A.indptr)
    return bool(d.size and d.var() > _DISPERSION * d.mean())


class SaturatedWeights(NamedTuple):
    """Weights in units of r, all below 1, and which of them were reduced."""

    r: float
    ratios: Floats
    saturated: Bools


def saturate(x: Floats, start: float) -> Floats:
    """Return ``x`` up to ``start``, and above it a smooth approach to ``(1 + start) / 2``."""
    width = (1.0 - start) / 2.0
    excess = np.maximum(x - start, 0.0)
    return np.minimum(x, start) + width * np.tanh(excess / width)


def saturate_at(w: Floats, r: float) -> SaturatedWeights:
    """Saturate the weights near or above ``r``; equal weights below ``r`` are left unchanged."""
    largest = float(w.max(initial=0.0))
    typical = largest * math.sqrt(float(np.mean(np.square(w / largest)))) if largest else 0.0
    start = min(max(_UNSATURATED, typical / r), 1.0 / R_FLOOR)
    # An infinite ratio saturates at the same limit as any large one.
    with np.errstate(over="ignore"):
        x = w / r
    return SaturatedWeights(r, saturate(x, start), x > start)


def saturate_at_mean_degree(w: Floats, c: float) -> SaturatedWeights:
    r"""Find r and the saturated weights together, so that no single heavy edge sets the scale.

    r solves :math:`\frac1N \sum f(w/r)^2 = 1/c` over the N entries, where f is :func:`saturate`.
    The left side decreases with r, so the solution is unique. Where no weight is saturated it is
    :math:`r = \sqrt{\sum w^2 / n'}`.
    """
    scale, unit = _in_units_of_largest(w)
    r, start = _relative_saturation(unit, c, np.mean)
    x = unit / r
    return SaturatedWeights(r * scale, saturate(x, start), x > start)


def saturation_at_mean_degree(w: Floats, c: float, counts: Floats) -> tuple[float, float]:
    """Return r, and the share of it above which weights are saturated, for repeated weights."""
    scale, unit = _in_units_of_largest(w)
    whole = counts.sum()
    r, start = _relative_saturation(unit, c, lambda values: counts @ values / whole)
    return r * scale, start


def _in_units_of_largest(w: Floats) -> tuple[float, Floats]:
    # Dividing by the largest weight first keeps the squares away from overflow and underflow.
    scale = float(w.max())
    return scale, np.maximum(w / scale, _SMALLEST_WEIGHT)


def _relative_saturation(
    unit: Floats, c: float, mean: Callable[[Floats], Any]
) -> tuple[float, float]:
    target = 1.0 / max(c, R_FLOOR**2)
    start = max(_UNSATURATED, math.sqrt(target))

    def excess(log_r: float) -> float:
        return float(mean(np.square(saturate(unit / math.exp(log_r), start)))) - target

    high = math.log(math.sqrt(float(mean(np.square(unit))) / target))
    if math.exp(-high) > start:
        low = min(high, math.log(float(unit.min()) / start))
        high = _root_of_decreasing(excess, low, high)
    return math.exp(high), start


# scipy.optimize.brentq is as fast, but importing scipy.optimize takes 106 ms, and nothing else in
# a detection needs it.
def _root_of_decreasing(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a decreasing function by false position with the Illinois safeguard."""
    at_low, at_high = function(low), function(high)
    if at_low <= 0.0:
        return low
    if at_high >= 0.0:
        return high
    middle, last_side = high, 0
    for _ in range(200):
        following = (low * at_high - high * at_low) / (at_high - at_low)
        settled = abs(following - middle) <= 4.0 * math.ulp(max(1.0, abs(following)))
        middle = following
        value = function(middle)
        if settled or value == 0.0:
            break
        if value > 0.0:
            low, at_low = middle, value
            at_high = at_high / 2.0 if last_side > 0 else at_high
            last_side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2.0 if last_side < 0 else at_low
            last_side = -1
    return middle


def radius_above_entries(csr: CSR, entries: Floats, *, limits: DenseLimits = DENSE) -> float:
    """Return rho(B) if it is above the largest entry, and 0 otherwise.

    ``csr`` is a symmetric pattern with sorted columns, in which a self-loop is one directed edge
    and its own reverse. ``entries`` are the positive v: 1 without weights, else squared weights.
    Trees attached to the graph change neither rho nor the sign of any pivot and are not removed.
    """
    if entries.size == 0:
        return 0.0
    n = len(csr.indptr) - 1
    scale = float(entries.max())
    v = entries / scale
    dense = n <= limits.one_eigenpair
    # Some steps on the edges give a start near the root, or the root where they converge.
    guess, residual, start = _iterate_on_edges(csr, v, _STEPS_SMALL if dense else _STEPS_LARGE)
    if residual > _TOLERANCE:
        try:
            return scale * _root(_NormalizedForm(csr, v, dense=dense), guess, start)
        except RuntimeError:
            # ARPACK may fail where many components share the top eigenvalue.
            guess, _, _ = _iterate_on_edges(csr, v, _STEPS_ALONE)
    return scale * guess if guess > _FLOOR else 0.0


class _NormalizedForm:
    """The normalized form of H_v at any lambda, for entries v of at most 1."""

    def __init__(self, csr: CSR, v: Floats, *, dense: bool) -> None:
        self.csr, self.v, self.rows, self.n = csr, v, rows_of(csr), len(csr.indptr) - 1
        self.dense = dense

    def top(self, lam: float, start: Floats) -> tuple[float, Floats, float]:
        """Return the top eigenvalue, its eigenvector and its derivative with respect to lambda."""
        v, rows, columns = self.v, self.rows, self.csr.indices
        rest = lam * lam - v * v
        diagonal = 1.0 + row_sums(rows, v * v / rest, self.n)
        scale = 1.0 / np.sqrt(diagonal)
        nu, y = self._top_pair(lam * v / rest * scale[rows] * scale[columns], start)
        x = y * scale
        # d nu = x (dG - nu dDelta) x, with G the coupling and Delta the diagonal.
        change_of_coupling = -v * (lam * lam + v * v) / (rest * rest)
        change_of_diagonal = -2.0 * lam * v * v / (rest * rest)
        at_rows = x[rows]
        slope = (at_rows * x[columns]) @ change_of_coupling
        slope -= nu * (np.square(at_rows) @ change_of_diagonal)
        return nu, y, float(slope)

    def _top_pair(self, data: Floats, start: Floats) -> tuple[float, Floats]:
        from scipy import sparse

        shape = (self.n, self.n)
        matrix = sparse.csr_array((data, self.csr.indices, self.csr.indptr), shape=shape)
        if self.dense:
            with single_threaded(self.n):
                values, vectors = np.linalg.eigh(matrix.toarray())
            return float(values[-1]), vectors[:, -1]
        from scipy.sparse.linalg import eigsh

        values, vectors = eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, ncv=24, maxiter=300)
        return float(values[0]), vectors[:, 0]


def _root(form: _NormalizedForm, guess: float, start: Floats) -> float:
    """Return the lambda above ``_FLOOR`` at which the top eigenvalue falls below 1, or 0.

    Newton's method with bisection where it leaves the bracket.
    """
    low, high = _FLOOR, max(float(row_sums(form.rows, form.v, form.n).max()), 2.0 * _FLOOR)
    lam = min(max(low, guess), high)
    for _ in range(200):
        nu, start, slope = form.top(lam, start)
        if nu > 1.0:
            low = lam
        elif lam == _FLOOR:
            return 0.0
        else:
            high = lam
        # At the largest entry the eigenvalue is 1 too, but increases: that is not the root.
        following = lam + (1.0 - nu) / slope if slope < 0.0 else math.inf
        if abs(following - lam) <= _TOLERANCE * lam or high - low <= _TOLERANCE * lam:
            return min(max(following, low), high)
        if following <= _FLOOR and low == _FLOOR:
            following = _FLOOR
        elif not low < following < high:
            following = math.sqrt(low * high)
        lam = following
    return lam


def _iterate_on_edges(csr: CSR, v: Floats, steps: int) -> tuple[float, float, Floats]:
    """Return rho, its relative residual and the sums at the nodes after some power iterations.

    Reversing all edges turns right eigenvectors of B into left ones, so the quotient is two-sided
    and its error the square of the residual.
    """
    rows, n = rows_of(csr), len(csr.indptr) - 1
    reverse = np.argsort(csr.indices, kind="stable")
    x = np.ones(len(v))
    rho, residual, sums = 0.0, math.inf, np.ones(n)
    for _ in range(steps):
        flow = v * x
        left = flow[reverse]
        sums = row_sums(rows, flow, n)
        y = sums[csr.indices] - left
        below = float(left @ x)
        if below > 0.0:
            rho = float(left @ y) / below
            distance = float(np.linalg.norm(y - rho * x) / np.linalg.norm(x))
            residual = distance / max(rho, 1e-300)
            if residual <= _TOLERANCE:
                break
        # The shift breaks the period of graphs whose cycles share a length.
        x = y + 0.5 * max(rho, 0.1) * x
        x /= float(np.linalg.norm(x))
    return rho, residual, sums + 1e-3 * float(sums.max())
