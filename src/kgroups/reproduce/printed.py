"""Kernel k-means as the paper prints it, for comparison with the exact update."""

import numpy as np

from kgroups._types import Floats, Ints

__all__ = ["printed_kernel_kmeans"]

# Rows whose criterion is computed together. A move makes those behind it stale, so that there are
# few of them after one and more the longer nothing moves.
_AHEAD = 8


def printed_kernel_kmeans(G: Floats, z: Ints, *, k: int, max_sweeps: int = 100) -> Ints:
    r"""Return the labels of Algorithm 1 of the paper, weights 1, to the letter.

    When a point moves, the printed update of the sums :math:`Q_a` leaves out :math:`G_{ii}`, and
    the author's program does, too. The sums drift down with every move, which makes groups look
    compact that are not, and in the end groups run empty. The mean of an empty group is 0/0; as in
    the author's program it counts as the nearest, so that the next point goes there.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Symmetric Gram matrix.
    z : ndarray of shape (n,)
        First labels, in ``range(k)``.
    k : int
        Number of groups.
    max_sweeps : int
        Most passes over the points.

    Returns
    -------
    ndarray of shape (n,)
        Labels in ``range(k)``; groups may be empty.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 10.0, 11.0])
    >>> printed_kernel_kmeans(np.outer(x, x), np.array([0, 0, 0, 1]), k=2)
    array([0, 0, 1, 1])
    """
    n, z = len(z), z.copy()
    member = np.eye(k)[z]
    size = member.sum(axis=0)
    sums = np.asfortranarray(G @ member)
    q = (member * sums).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(max_sweeps):
            place, moves, width = 0, 0, _AHEAD
            while place < n:
                ahead = slice(place, place + width)
                # argmin takes what is not a number for the least.
                nearest = np.argmin(q / size**2 - 2.0 * sums[ahead] / size, axis=1)
                wanting = np.flatnonzero(nearest != z[ahead])
                if wanting.size == 0:
                    place, width = place + width, 2 * width
                    continue
                i = place + int(wanting[0])
                a, b = z[i], nearest[wanting[0]]
                q[a] -= 2.0 * sums[i, a]
                q[b] += 2.0 * sums[i, b]
                sums[:, a] -= G[i]
                sums[:, b] += G[i]
                size[a] -= 1.0
                size[b] += 1.0
                if size[a] == 0.0:
                    sums[:, a] = 0.0
                z[i] = b
                place, moves, width = i + 1, moves + 1, _AHEAD
            if moves == 0:
                break
    return z
