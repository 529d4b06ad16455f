"""The block model in which nodes of one block may have different degrees."""

from typing import Any

import numpy as np

from kgroups._doors import RngLike
from kgroups._wording import argument
from kgroups.errors import InputError
from kgroups.generators.affinity import PlantedAffinity
from kgroups.generators.arguments import block_sizes, symmetric_probabilities
from kgroups.generators.assembly import simple_graph
from kgroups.generators.pairs import BlockPairs, pairs_hit
from kgroups.generators.planted import Planted, open_stream
from kgroups.generators.propensity import PowerLaw, PropensityBlocks, scaled_propensities
from kgroups.generators.weighting import Weights, check_weights, weighted

__all__ = ["degree_corrected_sbm"]


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
    counts = block_sizes(sizes)
    k = counts.size
    if isinstance(P, PlantedAffinity):
        P = P.matrix(max(int(counts.sum()), 1), k)
    matrix = symmetric_probabilities(P, k)
    certain = np.argwhere(matrix == 1)
    if certain.size:
        a, b = certain[0]
        msg = (
            f"{argument('P')} must be below 1 where degrees vary, got 1 for blocks {a} and {b}.\n"
            "  Propensities cannot change what is certain; use a number below 1."
        )
        raise InputError(msg)
    check_weights(weights, k)
    stream, entropy = open_stream(rng)
    blocks = PropensityBlocks(counts, scaled_propensities(propensities, counts, stream))
    ends = pairs_hit(blocks, BlockPairs.of_matrix(matrix), stream)
    labels = np.repeat(np.arange(k), counts)
    graph = weighted(simple_graph(ends, labels.size), labels, weights, stream)
    return Planted(graph, labels, entropy=entropy)
