"""Stochastic block models, with equal or unequal degrees, and the planted partition."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Floats, Indices, Ints
from kgroups._validation import RngLike, changed_options, check_choice, check_integer, check_real
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.generators.planted import (
    DENSE_PROBABILITY,
    BlockPairs,
    Blocks,
    Ends,
    Planted,
    draw_pairs,
    joined_ends,
    open_stream,
    pairs_hit,
    simple_graph,
)

Beyond: TypeAlias = Literal["error", "clip"]


@dataclass(frozen=True)
class PlantedAffinity:
    r"""Edge probabilities of the planted model from a mean degree and a signal-to-noise ratio.

    With :math:`d` the mean degree and :math:`\lambda` the ratio, two nodes of one group of
    ``k`` are joined with probability :math:`a / n`, two others with :math:`b / n`, where

    .. math:: a = d + \lambda (k - 1) \sqrt d, \quad b = d - \lambda \sqrt d.

    Parameters
    ----------
    degree : float
        Mean degree :math:`d` when the groups are equal.
    snr : float
        The ratio :math:`\lambda = (a - b) / (k \sqrt d)`. Groups can be detected above 1.
        Negative values make nodes avoid their own group.
    beyond : {"error", "clip"}
        What to do where :math:`a / n` or :math:`b / n` is not a probability. For
        :math:`\lambda > \sqrt d` that is a negative :math:`b`. ``"clip"`` moves it to the nearest
        bound, which changes the mean degree.

    Examples
    --------
    >>> PlantedAffinity(degree=16, snr=2).probabilities(128, 4)
    (0.3125, 0.0625)
    """

    degree: float
    snr: float
    beyond: Beyond = "error"

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_real("degree", self.degree, low=0.0)
        check_real("snr", self.snr)
        check_choice("beyond", self.beyond, ("error", "clip"))

    def probabilities(self, n: int, k: int) -> tuple[float, float]:
        """Return the edge probability inside a group and between groups.

        Parameters
        ----------
        n, k : int
            Number of nodes and of groups.

        Returns
        -------
        inside, between : float
            Probabilities.

        Raises
        ------
        InputError
            If one of them is not a probability and ``beyond`` is ``"error"``.
        """
        root = math.sqrt(self.degree)
        a = self.degree + self.snr * (k - 1) * root
        b = self.degree - self.snr * root
        low, high = self._snr_range(n, k)
        # The bounds are named to the caller, so a value equal to a rounded bound must pass.
        slack = 1e-12 * max(1.0, abs(self.snr))
        if self.beyond == "error" and not low - slack <= self.snr <= high + slack:
            raise InputError(self._out_of_range_message(n, k, low, high))
        return min(max(a / n, 0.0), 1.0), min(max(b / n, 0.0), 1.0)

    def matrix(self, n: int, k: int) -> Floats:
        """Return the matrix of edge probabilities between ``k`` groups of ``n`` nodes."""
        inside, between = self.probabilities(n, k)
        return _planted_matrix(k, inside, between)

    def _snr_range(self, n: int, k: int) -> tuple[float, float]:
        """Return the ratios for which a and b lie between 0 and n."""
        root = math.sqrt(self.degree)
        if self.degree > n:
            return math.inf, -math.inf
        if k == 1 or root == 0:
            return -math.inf, math.inf
        largest = (n - self.degree) / root
        return max(-root / (k - 1), -largest), min(root, largest / (k - 1))

    def _out_of_range_message(self, n: int, k: int, low: float, high: float) -> str:
        if low > high:
            return (
                f"{argument('degree')} must not exceed the number of nodes, got {self.degree:g} "
                f"for {n} nodes.\n  Use more nodes, or a smaller degree."
            )
        bound = (
            f"the largest {argument('snr')} is {high:.15g}"
            if self.snr > high
            else f"the smallest {argument('snr')} is {low:.15g}"
        )
        return (
            f"edge probabilities must lie between 0 and 1; for {n} nodes, {k} groups and mean "
            f"degree {self.degree:g} {bound}, got {self.snr:.15g}.\n"
            f"  Choose an {argument('snr')} within the bound, or pass "
            f"{setting('beyond', 'clip')}, which changes the mean degree."
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


def stochastic_block_model(
    sizes: Any,
    P: Any,
    *,
    rng: RngLike = None,
) -> Planted:
    """Draw a graph whose edges depend on the blocks of their ends alone.

    Every pair of nodes of blocks ``a`` and ``b`` is an edge with probability ``P[a, b]``,
    independently of all others. There are no self-loops.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each block. Nodes are numbered block by block.
    P : array_like of shape (k, k) or PlantedAffinity
        Symmetric matrix of probabilities, or the planted model by mean degree and signal-to-noise
        ratio.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``.

    Raises
    ------
    InputError
        If sizes and probabilities do not fit together.

    Notes
    -----
    Time and memory are proportional to the number of nodes, edges and pairs of blocks.

    Examples
    --------
    >>> graph, labels = stochastic_block_model([3, 2], [[1, 0], [0, 1]], rng=0)
    >>> graph
    Graph(5 nodes, 4 edges)
    >>> labels
    array([0, 0, 0, 1, 1])
    """
    counts, matrix = block_model(sizes, P)
    stream, entropy = open_stream(rng)
    ends = draw_pairs(Blocks(counts), BlockPairs.of_matrix(matrix), stream)
    return _planted_blocks(ends, counts, matrix, entropy)


def degree_corrected_sbm(
    sizes: Any,
    P: Any,
    propensities: Any = PowerLaw(),
    *,
    rng: RngLike = None,
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

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``.

    Raises
    ------
    InputError
        If sizes, probabilities and propensities do not fit together.

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
    stream, entropy = open_stream(rng)
    blocks = _PropensityBlocks(counts, _scaled_propensities(propensities, counts, stream))
    ends = pairs_hit(blocks, BlockPairs.of_matrix(matrix), stream)
    return _planted_blocks(ends, counts, matrix, entropy)


def planted_partition(
    n: int,
    k: int,
    degree: float,
    snr: float,
    *,
    sizes: Literal["balanced", "multinomial"] = "balanced",
    beyond: Beyond = "error",
    rng: RngLike = None,
) -> Planted:
    r"""Draw ``k`` groups with a given mean degree and signal-to-noise ratio.

    Two nodes of one group are joined with probability :math:`a / n`, two others with
    :math:`b / n`, where :math:`a = d + \lambda (k - 1) \sqrt d` and
    :math:`b = d - \lambda \sqrt d`.

    Parameters
    ----------
    n, k : int
        Number of nodes and of groups.
    degree : float
        Mean degree :math:`d`.
    snr : float
        Signal-to-noise ratio :math:`\lambda = (a - b) / (k \sqrt d)`. Above 1 the groups can be
        detected by fast algorithms. It must not exceed :math:`\sqrt d`, where :math:`b = 0`.
    sizes : {"balanced", "multinomial"}
        Sizes that differ by at most one node, or the group of each node drawn independently.
    beyond : {"error", "clip"}
        What to do where ``snr`` makes :math:`a` or :math:`b` impossible. ``"clip"`` takes the
        nearest possible value, which changes the mean degree.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``. Nodes of all groups are mixed, so that node numbers say
        nothing about the groups.

    Raises
    ------
    InputError
        If ``snr`` is beyond its bound, which the message names, or another argument is wrong.

    Notes
    -----
    Equation *planted* of :doc:`/theory`. Time and memory are proportional to the number of
    nodes and edges, whatever ``k``.

    Examples
    --------
    >>> graph, labels = planted_partition(1000, k=5, degree=3, snr=1.5, rng=0)
    >>> graph.n
    1000
    >>> import numpy as np
    >>> np.bincount(labels)
    array([200, 200, 200, 200, 200])
    """
    check_choice("sizes", sizes, ("balanced", "multinomial"))
    inside, between = planted_probabilities(n, k, degree, snr, beyond)
    stream, entropy = open_stream(rng)
    if sizes == "balanced":
        labels = stream.permutation(np.arange(n) % k)
    else:
        labels = stream.integers(k, size=n)
    blocks = Blocks(np.bincount(labels, minlength=k))
    u, v = _planted_pairs(blocks, inside, between, stream)
    node_in_block_order = np.argsort(labels, kind="stable").astype(u.dtype)
    ends = node_in_block_order[u], node_in_block_order[v]
    planted = Planted(simple_graph(ends, n), labels)
    planted.entropy, planted.inside, planted.between = entropy, np.full(k, inside), between
    return planted


def girvan_newman_benchmark(
    snr: float, *, beyond: Beyond = "error", rng: RngLike = None
) -> Planted:
    """Draw the benchmark of Girvan and Newman: 128 nodes, four groups, mean degree 16.

    Parameters
    ----------
    snr : float
        Signal-to-noise ratio, from -4/3 to 4; the groups can be detected above 1.
    beyond : {"error", "clip"}
        What to do with other ratios, as in :func:`planted_partition`.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``; the nodes of all groups are mixed.

    Raises
    ------
    InputError
        If ``snr`` is beyond its bounds.

    See Also
    --------
    planted_partition : The same for any size.

    References
    ----------
    .. [1] M. Girvan, M. E. J. Newman, "Community structure in social and biological networks",
       PNAS 99(12), 2002. :doi:`10.1073/pnas.122653799`

    Examples
    --------
    >>> graph, labels = girvan_newman_benchmark(2.0, rng=0)
    >>> graph.n, int(labels.max())
    (128, 3)
    """
    return planted_partition(128, 4, 16.0, snr, beyond=beyond, rng=rng)


def planted_probabilities(
    n: int, k: int, degree: float, snr: float, beyond: Beyond
) -> tuple[float, float]:
    """Return the edge probabilities of :func:`planted_partition`, its arguments checked."""
    n, k = check_integer("n", n), check_integer("k", k)
    if k > n:
        msg = (
            f"{argument('k')} must not exceed the number of nodes, got {setting('k', k)} for "
            f"{setting('n', n)}."
        )
        raise InputError(msg)
    return PlantedAffinity(degree, snr, beyond).probabilities(n, k)


def block_model(sizes: Any, P: Any) -> tuple[Ints, Floats]:
    """Return the sizes of the blocks and the matrix of edge probabilities, checked."""
    try:
        listed = list(sizes)
    except TypeError:
        msg = f"{argument('sizes')} must list the number of nodes of each block, got {sizes!r}."
        raise InputError(msg) from None
    if not listed:
        msg = f"{argument('sizes')} must name at least one block, got none."
        raise InputError(msg)
    counts = [
        check_integer(f"entry {a} of {argument('sizes')}", size, low=0)
        for a, size in enumerate(listed)
    ]
    k = len(counts)
    if isinstance(P, PlantedAffinity):
        P = P.matrix(max(sum(counts), 1), k)
    return np.array(counts, dtype=np.int64), _symmetric_probabilities(P, k)


def _symmetric_probabilities(P: Any, k: int) -> Floats:
    try:
        matrix = np.array(P, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{argument('P')} must be a {k} x {k} matrix of probabilities: {error}."
        raise InputError(msg) from error
    if matrix.shape != (k, k):
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        msg = (
            f"{argument('P')} must have a row and a column for each of the {k} blocks of "
            f"{argument('sizes')}, got {shape}."
        )
        raise InputError(msg)
    wrong = np.argwhere(~((matrix >= 0) & (matrix <= 1)))
    if wrong.size:
        a, b = wrong[0]
        msg = (
            f"{argument('P')} must hold probabilities from 0 to 1, got {matrix[a, b]:g} for blocks "
            f"{a} and {b}."
        )
        raise InputError(msg)
    uneven = np.argwhere(matrix != matrix.T)
    if uneven.size:
        a, b = uneven[0]
        msg = (
            f"{argument('P')} must be symmetric, because edges have no direction, got "
            f"{matrix[a, b]:g} for blocks {a} and {b}, and {matrix[b, a]:g} for {b} and {a}."
        )
        raise InputError(msg)
    return matrix


def _planted_blocks(ends: Ends, counts: Ints, matrix: Floats, entropy: int | None) -> Planted:
    """Return the graph of a block model, with its probabilities if all between blocks are equal."""
    labels = np.repeat(np.arange(counts.size), counts)
    planted = Planted(simple_graph(ends, labels.size), labels)
    planted.entropy = entropy
    apart = matrix[~np.eye(len(matrix), dtype=bool)]
    if np.unique(apart).size <= 1:
        planted.inside = np.diag(matrix).copy()
        planted.between = float(apart[0]) if apart.size else 0.0
    return planted


def _planted_matrix(k: int, inside: float, between: float) -> Floats:
    P = np.full((k, k), between)
    np.fill_diagonal(P, inside)
    return P


def _planted_pairs(blocks: Blocks, inside: float, between: float, rng: np.random.Generator) -> Ends:
    n, k = blocks.n, blocks.sizes.size
    if k * k <= n or between >= DENSE_PROBABILITY:
        return draw_pairs(blocks, BlockPairs.of_matrix(_planted_matrix(k, inside, between)), rng)
    # With many groups a table of their pairs costs more than drawing pairs of all nodes and
    # discarding the few that lie within a group.
    own = np.arange(k)
    within = draw_pairs(blocks, BlockPairs(own, own, np.full(k, inside)), rng)
    whole = np.zeros(1, dtype=np.int64)
    everywhere = BlockPairs(whole, whole, np.array([between]))
    u, v = pairs_hit(Blocks(np.array([n])), everywhere, rng)
    group = np.repeat(own.astype(u.dtype), blocks.sizes)
    apart = group[u] != group[v]
    return joined_ends([within, (u[apart], v[apart])])


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
