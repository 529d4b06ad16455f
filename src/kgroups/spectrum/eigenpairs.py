"""Extreme eigenpairs of N_r: dense on small graphs, by Lanczos, or by a Chebyshev filter.

The filter serves large graphs with communities. It amplifies what is above 1 in a block of random
vectors. Ritz values never exceed eigenvalues, so those above 1 are a lower bound on their number;
the Ritz vectors are filtered again until their number above 1 does not change.
"""

import inspect
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._blas import DENSE, DenseLimits
from kgroups._csr import rows_of
from kgroups._types import Floats
from kgroups._wording import in_python
from kgroups.errors import ConvergenceError
from kgroups.spectrum.chebyshev import (
    Recursion,
    ThinBlock,
    growth_of,
    ritz_pairs,
    subtract_products,
    value_of,
)
from kgroups.spectrum.moments import Moments
from kgroups.spectrum.operators import BoundOperator

# Tolerance of ARPACK, and of a search that only asks whether there is anything.
_TOLERANCE, _ROUGH_TOLERANCE = 1e-10, 1e-4
# Residuals up to this are accepted; ARPACK may stop with larger ones.
_RESIDUAL = 1e-7

# Smallest growth that the degree of the filter is chosen for.
_WEAKEST_GROWTH = 1.15
# Amplification of an eigenvector relative to the bulk that makes it stand out of random columns,
# and the largest before float32 loses the weaker eigenvectors.
_LIFT, _LARGEST_LIFT = 100.0, 1e4
# Range of the degree of the filter.
_FEWEST_STEPS, _MOST_STEPS = 12, 40
# Extra columns of a block: this share of the eigenvectors to find, and so many more.
_SPARE_SHARE, _SPARE = 0.4, 4
# Times that a block is filtered.
_PASSES = 12
# Ritz values that rise by less in a pass have converged.
_CONVERGED = 0.01
# Ritz values of the bulk of a filtered block are near 0, those that rise to an eigenvalue above
# this, and the one next to 1 above the second number.
_RISING, _NEAR = 0.5, 0.9


class PartialEigenpairsError(ConvergenceError):
    """The eigensolver stopped early; holds the pairs that had converged, in decreasing order."""

    def __init__(self, message: str, eigenvalues: Floats, eigenvectors: Floats) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def top_eigenpairs(
    hessian: BoundOperator, count: int, *, limits: DenseLimits = DENSE
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of N_r, in decreasing order, and their eigenvectors.

    In each eigenvector the entry of largest size is positive, the first one in a tie. The graph
    should be connected: Lanczos finds the equal eigenvalues of several components only one by one.
    If it does not converge on a graph too large for a dense solver, PartialEigenpairsError is
    raised.
    """
    n = hessian.n
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    many = 8 * count >= n and n <= limits.fallback
    if n <= limits.eigenpairs or many or count >= n - 1:
        lam, V = _dense(hessian)
    else:
        try:
            lam, V = largest_eigenpairs(hessian.normalized_matrix(), count, start_vector(hessian))
        except PartialEigenpairsError:
            if n > limits.fallback:
                raise
            lam, V = _dense(hessian)
    return lam[:count], _with_fixed_signs(V[:, :count])


def largest_eigenpairs(matrix: Any, count: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the largest eigenpairs of a symmetric matrix or operator, in decreasing order.

    A Krylov method started from one vector may miss copies of an equal eigenvalue; a second
    search in the complement of what was found recovers them.
    """
    lam, V = lanczos_pairs(matrix, count, start)
    above = float(lam[-1]) + 1e-7 * max(1.0, abs(float(lam[-1])))
    lam, V = _with_missed_copies(matrix, lam, V, above=above)
    return lam[:count], V[:, :count]


def rough_top(hessian: BoundOperator, *, sign: int, tolerance: float = 1e-3) -> float:
    """Return the largest eigenvalue of ``sign * N`` to about three digits, rounded down."""
    if hessian.n <= DENSE.eigenpairs:
        return float(all_eigenvalues(hessian, sign=sign)[0])
    matrix = hessian.normalized_matrix() * float(sign)
    return float(lanczos_pairs(matrix, 1, start_vector(hessian), tolerance=tolerance)[0][0])


def all_eigenvalues(hessian: BoundOperator, *, sign: int) -> Floats:
    """Return all eigenvalues of ``sign * N``, in decreasing order, from the dense matrix."""
    values = np.linalg.eigvalsh(_dense_matrix(hessian)).astype(np.float64, copy=False)
    return values[::-1] if sign > 0 else -values


def start_vector(hessian: BoundOperator) -> Floats:
    """Return a vector near the top eigenvector for Lanczos to start from."""
    # On regular graphs it must not be exactly that eigenvector, where Lanczos would stop.
    return np.sqrt(hessian.scale) * (0.5 + np.random.default_rng(0).random(hessian.n))


def _dense(hessian: BoundOperator) -> tuple[Floats, Floats]:
    lam, V = np.linalg.eigh(_dense_matrix(hessian))
    return lam[::-1], V[:, ::-1]


def _dense_matrix(hessian: BoundOperator) -> Floats:
    dense = np.zeros((hessian.n, hessian.n))
    dense[rows_of(hessian.normalized), hessian.normalized.indices] = hessian.normalized.data
    return dense


def lanczos_pairs(
    matrix: Any, count: int, start: Floats, *, tolerance: float = _TOLERANCE
) -> tuple[Floats, Floats]:
    """Return the largest eigenpairs that one run of Lanczos finds, in decreasing order."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

    n = matrix.shape[0]
    width = min(n, max(2 * count + 1, 20))
    found = np.zeros(0), np.zeros((n, 0))
    for attempt in range(2):
        try:
            lam, V = eigsh(
                matrix,
                k=count,
                which="LA",
                v0=start,
                ncv=min(n, width * (1 + 2 * attempt)),
                tol=tolerance,
                maxiter=max(300, 3_000_000 // n),
                **_fixed_rng(),
            )
        except ArpackNoConvergence as error:
            found = error.eigenvalues, error.eigenvectors
        except ArpackError:
            start = start + np.random.default_rng(1).random(n)
        else:
            order = np.argsort(-lam, kind="stable")
            lam, V = lam[order], V[:, order]
            residual = np.linalg.norm(matrix @ V - V * lam, axis=0).max()
            if residual <= max(_RESIDUAL, 10.0 * tolerance) * max(1.0, float(np.abs(lam).max())):
                return lam, V
    order = np.argsort(-found[0], kind="stable")
    msg = (
        f"Lanczos found {len(order)} of the {count} eigenpairs requested on {n} nodes"
        f"{in_python('; the error carries them as .eigenvalues and .eigenvectors')}.\n"
        "  Ask for fewer communities, or remove components that carry no structure."
    )
    raise PartialEigenpairsError(msg, found[0][order], found[1][:, order])


def _fixed_rng() -> dict[str, Any]:
    """Return the argument that makes ``eigsh`` repeatable, in versions of SciPy that have it."""
    from scipy.sparse.linalg import eigsh

    if "rng" in inspect.signature(eigsh).parameters:
        return {"rng": np.random.default_rng(0)}
    return {}


def _with_missed_copies(
    matrix: Any, lam: Floats, V: Floats, *, above: float
) -> tuple[Floats, Floats]:
    """Add the eigenpairs in the complement of V whose eigenvalue is above a bound."""
    from scipy.sparse.linalg import LinearOperator

    n = matrix.shape[0]
    rng = np.random.default_rng(2)
    while True:
        # A new vector in each round: the previous one held no other copy than the one found.
        start = rng.standard_normal(n)
        # The eigenvalues held are moved below all others, even where the largest is negative.
        last = float(lam[-1])
        shift = lam - min(-abs(float(lam[0])), last - abs(last))

        def deflated(x: Floats, held: Floats = V, shift: Floats = shift) -> Floats:
            flat = x.reshape(n)
            return np.asarray(matrix @ flat - held @ (shift * (held.T @ flat)))

        rest = LinearOperator((n, n), matvec=deflated, dtype=float)
        start -= V @ (V.T @ start)
        value, vector = lanczos_pairs(rest, 1, start, tolerance=_ROUGH_TOLERANCE)
        if value[0] <= above:
            return lam, V
        value, vector = lanczos_pairs(rest, 1, vector[:, 0])
        lam = np.append(lam, value)
        V = np.linalg.qr(np.column_stack([V, vector]))[0]
        order = np.argsort(-lam, kind="stable")
        lam, V = lam[order], V[:, order]


def _with_fixed_signs(V: Floats) -> Floats:
    size = np.abs(V)
    # Of entries that are equal up to rounding the first one decides.
    peak = np.argmax(size >= (1.0 - 1e-8) * size.max(axis=0), axis=0)
    return V * np.where(V[peak, np.arange(V.shape[1])] < 0.0, -1.0, 1.0)


def edge_of_noise(n: int) -> float:
    """Return what an eigenvalue of N_r must exceed not to be one of a random graph.

    The largest eigenvalue of the bulk fluctuates around 1 by a multiple of n^(-2/3).
    """
    return 1.0 + math.pow(n, -2.0 / 3.0)


@dataclass(frozen=True, eq=False)
class Leading:
    """Leading eigenpairs of P, the Perron pair first.

    Attributes
    ----------
    values : ndarray of shape (found,)
        Ritz values in decreasing order: those above the edge of noise, or as many as requested.
    vectors : ndarray of float32, shape (n, found)
        Their vectors, of unit length for the operator. A row times the square root of Delta is
        a row of eigenvectors of N_r; normalized rows are the same for both.
    complete : bool
        False if the search ended at its limits before the values had converged.
    """

    values: Floats
    vectors: ThinBlock
    complete: bool

    @property
    def k(self) -> int:
        """Number of pairs."""
        return self.values.size


def leading_pairs(
    found: Moments, *, count: int | None = None, most: int = 160, edge: float | None = None
) -> Leading:
    """Find the eigenpairs above ``edge``, by default that of noise, or the ``count`` leading ones.

    The estimates in the moments determine the size of the block and the degree of the polynomial,
    and the search starts from their block. Where ``count`` is not given, it ends at ``most``
    columns.
    """
    operator, n = found.operator, found.operator.n
    edge = operator.mapped(edge_of_noise(n) if edge is None else edge)
    growth = max(_WEAKEST_GROWTH, growth_of(operator.mapped(value_of(found.s))))
    rng = np.random.default_rng(1)
    expected = found.k if count is None else float(count)
    most = most if count is None else max(most, columns_for(count))
    columns = min(n - 1, most, columns_for(expected))
    block = _wider(found, found.block.copy(), columns, growth, rng)
    values, block = ritz_pairs(operator, block)
    above, converged = _count_above(values, edge, count), False
    for _ in range(_PASSES):
        rising = max(above, int(np.count_nonzero(values > _RISING)))
        crowded = rising + 2 > block.shape[1]
        if crowded and count is None and block.shape[1] >= most:
            break
        if crowded and block.shape[1] < min(most, n - 1):
            columns = min(n - 1, most, 2 * block.shape[1])
            block = _wider(found, block, columns, growth, rng)
        else:
            block = np.ascontiguousarray(block[:, : _rounded_up(rising + _SPARE)])
        top = growth_of(float(values[0])) if values.size else growth
        steps = min(_steps(n, columns, growth) // 2, _most_steps(top))
        last = values
        values, block = ritz_pairs(operator, _filtered(found, block, steps))
        before, above = above, _count_above(values, edge, count)
        if count is None:
            following = slice(above, above + 1)
            near = above < values.size and values[above] > _NEAR
            rises = near and _largest_rise(values[following], last[following]) > _CONVERGED / 4.0
            converged = above < values.size and above in (before, rising) and not rises
        else:
            met = before == above == count - 1
            converged = met and _largest_rise(values[:above], last[:above]) < _CONVERGED
        if converged:
            break
    return Leading(
        values=np.concatenate([[found.perron.value], operator.unmapped(values[:above])]),
        vectors=np.concatenate([found.perron.vector, block[:, :above]], axis=1),
        complete=converged,
    )


def _largest_rise(values: Floats, last: Floats) -> float:
    if values.size != last.size:
        return math.inf
    return float(np.max(values - last, initial=0.0))


def columns_for(k: float) -> int:
    """Return how many columns a block needs to find k eigenvectors."""
    return _rounded_up(math.ceil((1.0 + _SPARE_SHARE) * (k - 1.0)) + _SPARE)


def _rounded_up(columns: int) -> int:
    """Return the next multiple of 8, which the kernels multiply in the same time."""
    return -8 * (-columns // 8)


def _steps(n: int, columns: int, growth: float) -> int:
    """Return the degree at which an eigenvector of this growth stands out of random columns."""
    degree = math.log(_LIFT * n / columns) / (2.0 * math.log(growth))
    return int(min(max(math.ceil(degree), _FEWEST_STEPS), _MOST_STEPS))


def _most_steps(growth: float) -> int:
    """Return the degree at which an eigenvector of this growth hides the rest from float32."""
    return max(2, int(math.log(_LARGEST_LIFT) / math.log(max(growth, _WEAKEST_GROWTH))))


def _wider(
    found: Moments, block: ThinBlock, columns: int, growth: float, rng: np.random.Generator
) -> ThinBlock:
    """Return the block extended to ``columns`` columns by filtered random ones."""
    operator = found.operator
    if block.shape[1] >= columns:
        return block
    values, held = ritz_pairs(operator, block)
    top = growth_of(float(values[0])) if values.size else growth
    new = operator.random_block(columns - held.shape[1], rng)
    filtered = _filtered(found, new, min(_steps(operator.n, columns, growth), _most_steps(top)))
    # The vectors held would fill the new columns to the last digit of float32.
    subtract_products(operator, held, filtered)
    return np.concatenate([held, filtered], axis=1)


def _count_above(values: Floats, edge: float, count: int | None) -> int:
    if count is not None:
        return min(count - 1, values.size)
    return int(np.count_nonzero(values > edge))


def _filtered(found: Moments, block: ThinBlock, steps: int) -> ThinBlock:
    """Apply T_steps of the operator to the block, whose memory is used for the work."""
    recursion = Recursion(found.operator, [found.perron.deflated], block)
    recursion.advance_to(steps)
    return recursion.now
