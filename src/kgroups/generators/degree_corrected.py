"""The degree-corrected block model, in which nodes of one block may have different degrees."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Floats, Indices, Ints
from kgroups._validation import RngLike, changed_options, check_real
from kgroups._wording import argument
from kgroups.errors import InputError
from kgroups.generators.blocks import block_model
from kgroups.generators.planted import (
    BlockPairs,
    Blocks,
    Planted,
    Weights,
    check_weights,
    open_stream,
    pairs_hit,
    plant,
    planted_in,
)


@dataclass(frozen=True)
class PowerLaw:
    """A density proportional to ``x ** -exponent`` on the numbers from 1 to ``ratio``.

    Parameters
    ----------
    exponent : float
        From 0 to 20. Larger exponents make large values rarer.
    ratio : float
        The largest possible value over the smallest, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = PowerLaw(exponent=2.5, ratio=10).draw(1000, np.random.default_rng(0))
    >>> bool(1 <= drawn.min() < drawn.max() <= 10)
    True
    """

    exponent: float = 2.5
    ratio: float = 100.0

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_real("exponent", self.exponent, low=0.0, high=20.0)
        check_real("ratio", self.ratio, low=1.0)

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw values by inverting the distribution function.

        Parameters
        ----------
        count : int
            How many values.
        rng : Generator
            Source of randomness.

        Returns
        -------
        ndarray of float
            Values from 1 to ``ratio``.
        """
        share = rng.random(count)
        power, span = 1.0 - self.exponent, np.log(self.ratio)
        if power == 0.0:
            return np.asarray(np.exp(share * span))
        return np.asarray(np.exp(np.log1p(share * np.expm1(power * span)) / power))


def degree_corrected_sbm(
    sizes: Any,
    P: Any,
    propensities: Any = PowerLaw(),
    *,
    rng: RngLike = None,
    weights: Weights | None = None,
) -> Planted:
    r"""Draw a block model whose nodes form edges in proportion to their propensities.

    Nodes :math:`i` and :math:`j` of blocks :math:`a` and :math:`b` are joined with probability
    :math:`1 - (1 - P_{ab})^{\theta_i \theta_j}`, independently of all other pairs.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each block. Nodes are numbered block by block.
    P : array_like of shape (k, k) or PlantedAffinity
        Symmetric matrix of numbers from 0 to below 1: the probability of an edge between two nodes
        of propensity 1. Or the planted model by mean degree and signal-to-noise ratio.
    propensities : PowerLaw or array_like of shape (n,)
        Propensities :math:`\theta`, or what to draw them from. They are scaled to mean 1 in each
        block.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.
    weights : callable, dict or nested list, optional
        What edge weights are drawn from, as in :func:`stochastic_block_model`.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``.

    Raises
    ------
    InputError
        If sizes, probabilities, propensities or weights do not fit together.

    Notes
    -----
    It is the Poisson multigraph of [1]_ with each bundle of parallel edges made one edge and
    without self-loops. With all propensities equal it is :func:`stochastic_block_model`. In a
    sparse graph the expected degree of a node is its propensity times the mean degree of its
    block; where propensities are so large that parallel edges are common it is smaller. Time and
    memory are proportional to the nodes, the pairs of blocks and the edges of that multigraph.

    References
    ----------
    .. [1] B. Karrer, M. E. J. Newman, "Stochastic blockmodels and community structure in
       networks", Physical Review E 83, 2011. :doi:`10.1103/PhysRevE.83.016107`

    Examples
    --------
    >>> theta = [9, 1, 1, 1] * 50
    >>> graph, labels = degree_corrected_sbm([100, 100], [[0.1, 0.01], [0.01, 0.1]], theta, rng=0)
    >>> bool(graph.degrees[::4].mean() > 3 * graph.degrees[1::4].mean())
    True
    """
    counts, matrix = block_model(sizes, P)
    certain = np.argwhere(matrix == 1)
    if certain.size:
        a, b = certain[0]
        msg = (
            f"{argument('P')} must be below 1 where degrees vary, got 1 for blocks {a} and {b}.\n"
            "  Propensities cannot change what is certain; use a number below 1."
        )
        raise InputError(msg)
    check_weights(weights, counts.size)
    stream, entropy = open_stream(rng)
    blocks = _PropensityBlocks(counts, _scaled_propensities(propensities, counts, stream))
    ends = pairs_hit(blocks, BlockPairs.of_matrix(matrix), stream)
    labels = np.repeat(np.arange(counts.size), counts)
    return plant(ends, labels, weights, stream, entropy, **planted_in(matrix))


class _PropensityBlocks(Blocks):
    """Consecutive blocks whose nodes are drawn in proportion to their propensities."""

    def __init__(self, sizes: Ints, propensities: Floats) -> None:
        super().__init__(sizes)
        self._reached = np.concatenate([[0.0], np.cumsum(propensities)])
        self._base = self._reached[self.starts]
        self.mass = self._reached[self.starts + sizes] - self._base

    def draw(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Indices:
        """Return ``counts[t]`` nodes of ``block[t]``, one after the other."""
        place = self._draw_mass(block, counts, rng)
        place += np.repeat(self._base[block], counts)
        node = np.searchsorted(self._reached[1:], place, side="right")
        # Rounding may carry the sum beyond the end of the block.
        last = np.repeat((self.starts + self.sizes - 1)[block], counts)
        return np.minimum(node, last).astype(index_type(self.n))


def _scaled_propensities(propensities: Any, sizes: Ints, rng: np.random.Generator) -> Floats:
    """Return the propensities of all nodes, of mean 1 in each block."""
    n = int(sizes.sum())
    if isinstance(propensities, PowerLaw):
        values = propensities.draw(n, rng)
    else:
        values = _given_propensities(propensities, n)
    block = np.repeat(np.arange(sizes.size), sizes)
    # A power of two changes no digit, and keeps the sums of the largest floats finite.
    peaks = np.zeros(sizes.size)
    np.maximum.at(peaks, block, values)
    values = np.ldexp(values, -np.frexp(peaks)[1][block])
    totals = np.bincount(block, weights=values, minlength=sizes.size)
    without = np.flatnonzero((totals == 0) & (sizes > 0))
    if without.size:
        msg = (
            f"propensities must not all be 0 in a block, got none above 0 in block {without[0]}.\n"
            f"  Set probabilities of {argument('P')} to 0 for a block without edges."
        )
        raise InputError(msg)
    return np.asarray(values * sizes[block] / totals[block], dtype=np.float64)


def _given_propensities(propensities: Any, n: int) -> Floats:
    try:
        values = np.array(propensities, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"propensities must be a PowerLaw or one number per node, got {propensities!r}."
        raise InputError(msg) from None
    if values.shape != (n,):
        msg = f"propensities must hold one number for each of the {n} nodes, got {values.shape}."
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        msg = f"propensities must be finite and >= 0, got {values[bad[0]]:g} for node {bad[0]}."
        raise InputError(msg)
    return values
