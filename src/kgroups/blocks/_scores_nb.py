"""What the scores of communities count in the rows of a block."""

from kgroups._kernel import kernel
from kgroups._types import Indices, Ints

__all__ = ["add_cuts"]


@kernel(seconds=0.1)
def add_cuts(
    indptr: Indices, indices: Indices, weights: Ints, at: int, start: int, stop: int, z: Indices,
    cut: Ints,
) -> int:
    """Write the weight of the entries of each row that lead to another group; return their number.

    Row i of the block is node ``at + i``. Without ``weights`` each entry counts 1.
    """
    entries, weighted = 0, len(weights) > 0
    for i in range(start, stop):
        a, total = z[at + i], 0
        for t in range(indptr[i], indptr[i + 1]):
            if z[indices[t]] != a:
                entries += 1
                total += weights[t] if weighted else 1
        cut[i] = total
    return entries
