"""The few eigenvectors of N_r beyond 1, by Chebyshev-filtered subspace iteration.

A random block is filtered by a Chebyshev polynomial, which lifts what is beyond 1 out of the bulk;
its Ritz values never exceed eigenvalues, so those beyond 1 are a lower bound on their number.
The Ritz vectors are filtered again until their number beyond 1 has settled.
"""

import math
from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats
from kgroups.spectrum.chebyshev import Recursion, growth_of, value_of
from kgroups.spectrum.chebyshev_operator import BlockOperator, ThinBlock, subtract_products
from kgroups.spectrum.moments import Moments

__all__ = ["Leading", "edge_of_noise", "leading_pairs"]

_FAINTEST_GROWTH = 1.15
_LIFT = 100.0
_LARGEST_LIFT = 1e4
_FEWEST_STEPS, _MOST_STEPS = 12, 40
_SPARE_PART, _SPARE = 0.4, 4
_PASSES = 12
_SETTLED = 0.01
# The bulk of a filtered block has Ritz values near 0, what rises to an eigenvalue more than this.
_RISING = 0.5
_NEAR = 0.9
# Directions fainter than this in a block of unit columns are rounding of float32.
_FAINTEST_DIRECTION = 1e-5


def edge_of_noise(n: int) -> float:
    """Return what an eigenvalue of N_r must exceed to be none of a random graph's.

    The largest eigenvalue of the bulk strays about 1 by a multiple of n^(-2/3).
    """
    return 1.0 + math.pow(n, -2.0 / 3.0)


@dataclass(frozen=True, eq=False)
class Leading:
    """Leading eigenpairs of P, the Perron pair first.

    Attributes
    ----------
    values : ndarray of shape (found,)
        Ritz values, falling: those beyond the edge of noise, or as many as were asked for.
    vectors : ndarray of float32, shape (n, found)
        Their vectors, of unit length for the operator. A row times the square root of Delta is
        a row of eigenvectors of N_r; rows of length 1 are the same for both.
    complete : bool
        False if the search ended at its limits, before the number of eigenvalues beyond the edge,
        or the values of those asked for, had settled.
    """

    values: Floats
    vectors: ThinBlock
    complete: bool

    @property
    def k(self) -> int:
        """Number of pairs."""
        return self.values.size


def leading_pairs(found: Moments, *, count: int | None = None, most: int = 160) -> Leading:
    """Find the eigenpairs that communities make, or the ``count`` leading ones.

    Parameters
    ----------
    found : Moments
        The moments of the graph. Their estimates choose the size of the block and the degree of
        the polynomial; their block is where the search starts.
    count : int, optional
        How many pairs; by default all beyond the edge of noise.
    most : int
        Columns beyond which the search gives up, where ``count`` is not given.

    Returns
    -------
    Leading
    """
    operator, n = found.operator, found.operator.n
    edge = _mapped(edge_of_noise(n), found.lowest)
    growth = max(_FAINTEST_GROWTH, growth_of(_mapped(value_of(found.s), found.lowest)))
    rng = np.random.default_rng(1)
    expected = found.k if count is None else float(count)
    most = most if count is None else max(most, _columns_for(count))
    columns = min(n - 1, most, _columns_for(expected))
    values, block = _ritz(operator, _wider(found, found.block.copy(), columns, growth, rng))
    beyond, settled = _beyond(values, edge, count), False
    for _ in range(_PASSES):
        rising = max(beyond, int(np.count_nonzero(values > _RISING)))
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
        values, block = _ritz(operator, _filtered(found, block, steps))
        before, beyond = beyond, _beyond(values, edge, count)
        if count is None:
            following = slice(beyond, beyond + 1)
            near = beyond < values.size and values[beyond] > _NEAR
            rises = near and _largest_rise(values[following], last[following]) > _SETTLED / 4.0
            settled = beyond < values.size and beyond in (before, rising) and not rises
        else:
            met = before == beyond == count - 1
            settled = met and _largest_rise(values[:beyond], last[:beyond]) < _SETTLED
        if settled:
            break
    return Leading(
        values=np.concatenate([[found.perron.value], _unmapped(values[:beyond], found.lowest)]),
        vectors=np.concatenate([found.perron.vector, block[:, :beyond]], axis=1),
        complete=settled,
    )


def _largest_rise(values: Floats, last: Floats) -> float:
    if values.size != last.size:
        return math.inf
    return float(np.max(values - last, initial=0.0))


def _columns_for(k: float) -> int:
    return _rounded_up(math.ceil((1.0 + _SPARE_PART) * (k - 1.0)) + _SPARE)


def _rounded_up(columns: int) -> int:
    """Return the next multiple of 8, which the kernels multiply in the same time."""
    return -8 * (-columns // 8)


def _steps(n: int, columns: int, growth: float) -> int:
    """Return the degree at which an eigenvalue of this growth stands out of one random column."""
    degree = math.log(_LIFT * n / columns) / (2.0 * math.log(growth))
    return int(min(max(math.ceil(degree), _FEWEST_STEPS), _MOST_STEPS))


def _most_steps(growth: float) -> int:
    """Return the degree at which an eigenvalue has grown so much that float32 loses the rest."""
    return max(2, int(math.log(_LARGEST_LIFT) / math.log(max(growth, _FAINTEST_GROWTH))))


def _wider(
    found: Moments, block: ThinBlock, columns: int, growth: float, rng: np.random.Generator
) -> ThinBlock:
    """Return the block with as many more random columns, filtered, as make ``columns``."""
    operator = found.operator
    if block.shape[1] >= columns:
        return block
    values, held = _ritz(operator, block)
    top = growth_of(float(values[0])) if values.size else growth
    fresh = operator.random_block(columns - held.shape[1], rng)
    steps = min(_steps(operator.n, columns, growth), _most_steps(top))
    filtered = _filtered(found, fresh, steps)
    # What is held already would fill the new columns to the last digit of float32.
    subtract_products(operator, held, filtered)
    return np.concatenate([held, filtered], axis=1)


def _beyond(values: Floats, edge: float, count: int | None) -> int:
    if count is not None:
        return min(count - 1, values.size)
    return int(np.count_nonzero(values > edge))


def _filtered(found: Moments, block: ThinBlock, steps: int) -> ThinBlock:
    """Return T_steps of the operator times the block, whose memory is used for the work."""
    recursion = Recursion(found.operator, found.perron, block)
    while recursion.q < steps:
        recursion.advance()
    recursion.deflate()
    return recursion.now


def _ritz(operator: BlockOperator, X: ThinBlock) -> tuple[Floats, ThinBlock]:
    """Return Ritz values, falling, and Ritz vectors of the space that the columns span."""
    lengths, _ = operator.products_by_column(X, X)
    X /= np.sqrt(np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    image = np.empty_like(X)
    operator.matmat(X, image)
    gram, crossed = operator.products(X, X), operator.products(X, image)
    sizes, axes = np.linalg.eigh((gram + gram.T) / 2.0)
    firm = sizes > _FAINTEST_DIRECTION * sizes[-1]
    whitened = axes[:, firm] / np.sqrt(sizes[firm])
    values, turns = np.linalg.eigh(whitened.T @ ((crossed + crossed.T) / 2.0) @ whitened)
    vectors = np.zeros((X.shape[0], values.size), dtype=np.float32)
    operator.add_product(X, whitened @ turns[:, ::-1], vectors)
    return values[::-1], vectors


def _mapped(value: float, lowest: float) -> float:
    return 1.0 - 2.0 * (1.0 - value) / (1.0 - lowest)


def _unmapped(values: Floats, lowest: float) -> Floats:
    return 1.0 - 0.5 * (1.0 - values) * (1.0 - lowest)
