"""Stochastic block models: any block matrix, the planted partition, the Girvan-Newman benchmark."""

from typing import Any, Literal

import numpy as np

from kgroups._doors import RngLike, check_choice
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.generators.affinity import Beyond, PlantedAffinity
from kgroups.generators.arguments import block_sizes, symmetric_probabilities, whole_number
from kgroups.generators.assembly import Ends, joined_ends, simple_graph
from kgroups.generators.pairs import BlockPairs, UniformBlocks, draw_pairs, pairs_hit
from kgroups.generators.planted import Planted, open_stream
from kgroups.generators.weighting import Weights, check_weights, weighted

__all__ = [
    "girvan_newman_benchmark",
    "planted_partition",
    "planted_probabilities",
    "stochastic_block_model",
]

_DENSE_BETWEEN = 0.25


def stochastic_block_model(
    sizes: Any,
    P: Any,
    *,
    rng: RngLike = None,
    weights: Weights | None = None,
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
    weights : callable, dict or nested list, optional
        What edge weights are drawn from: a function ``(rng, size) -> array`` for all edges; a dict
        with such functions for ``"inside"`` and ``"between"``; or one for each pair of blocks, as
        a dict with keys ``(a, b)`` or as a k by k list. Edges weigh 1 by default.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``.

    Raises
    ------
    InputError
        If sizes, probabilities or weights do not fit together.

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
    counts = block_sizes(sizes)
    k = counts.size
    if isinstance(P, PlantedAffinity):
        P = P.matrix(max(int(counts.sum()), 1), k)
    matrix = symmetric_probabilities(P, k)
    check_weights(weights, k)
    stream, entropy = open_stream(rng)
    blocks = UniformBlocks(counts)
    ends = draw_pairs(blocks, BlockPairs.of_matrix(matrix), stream)
    labels = np.repeat(np.arange(k), counts)
    graph = weighted(simple_graph(ends, blocks.n), labels, weights, stream)
    return Planted(graph, labels, entropy=entropy)


def planted_partition(
    n: int,
    k: int,
    degree: float,
    snr: float,
    *,
    sizes: Literal["balanced", "multinomial"] = "balanced",
    beyond: Beyond = "error",
    rng: RngLike = None,
    weights: Weights | None = None,
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
        Groups that differ by at most one node, or the group of each node drawn by itself.
    beyond : {"error", "clip"}
        What to do where ``snr`` makes :math:`a` or :math:`b` impossible. ``"clip"`` takes the
        nearest possible value, which changes the mean degree.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.
    weights : callable, dict or nested list, optional
        What edge weights are drawn from, as in :func:`stochastic_block_model`.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``. Nodes of all groups are mixed, so that node numbers tell
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
    check_weights(weights, k)
    stream, entropy = open_stream(rng)
    if sizes == "balanced":
        labels = stream.permutation(np.arange(n) % k)
    else:
        labels = stream.integers(k, size=n)
    blocks = UniformBlocks(np.bincount(labels, minlength=k))
    u, v = _planted_pairs(blocks, inside, between, stream)
    node_in_block_order = np.argsort(labels, kind="stable").astype(u.dtype)
    ends = node_in_block_order[u], node_in_block_order[v]
    graph = weighted(simple_graph(ends, n), labels, weights, stream)
    return Planted(graph, labels, entropy=entropy)


def planted_probabilities(
    n: int, k: int, degree: float, snr: float, beyond: Beyond
) -> tuple[float, float]:
    """Return the edge probabilities of :func:`planted_partition`, its arguments checked."""
    n, k = whole_number("n", n, low=1), whole_number("k", k, low=1)
    if k > n:
        msg = (
            f"{argument('k')} must not exceed the number of nodes, got {setting('k', k)} for "
            f"{setting('n', n)}."
        )
        raise InputError(msg)
    return PlantedAffinity(degree, snr, beyond).probabilities(n, k)


def _planted_pairs(
    blocks: UniformBlocks, inside: float, between: float, rng: np.random.Generator
) -> Ends:
    n, k = blocks.n, blocks.sizes.size
    if k * k <= n or between >= _DENSE_BETWEEN:
        P = np.full((k, k), between)
        np.fill_diagonal(P, inside)
        return draw_pairs(blocks, BlockPairs.of_matrix(P), rng)
    # With many groups a table of their pairs costs more than the few pairs of one group that
    # are drawn with all others here and thrown away.
    own = np.arange(k)
    within = draw_pairs(blocks, BlockPairs(own, own, np.full(k, inside)), rng)
    whole = np.zeros(1, dtype=np.int64)
    everywhere = BlockPairs(whole, whole, np.array([between]))
    u, v = pairs_hit(UniformBlocks(np.array([n])), everywhere, rng)
    group = np.repeat(own.astype(u.dtype), blocks.sizes)
    apart = group[u] != group[v]
    return joined_ends([within, (u[apart], v[apart])])


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
