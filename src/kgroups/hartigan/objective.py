"""Group association: the number that Hartigan moves drive up."""

import numpy as np

from kgroups._csr import readonly
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.errors import InputError

__all__ = ["check_labels", "group_association", "group_sums", "group_totals"]


def check_labels(z: Ints, k: int) -> None:
    """Raise unless every label lies in ``range(k)``: the kernels do not check bounds."""
    bad = np.flatnonzero((z < 0) | (z >= k))
    if bad.size:
        msg = f"labels must lie in range({k}), got {z[bad[0]]} for node {bad[0]}."
        raise InputError(msg)


def group_sums(z: Indices, values: Floats, k: int) -> Floats:
    """Return the sum of values over each of ``k`` groups."""
    return np.asarray(np.bincount(z, weights=values, minlength=k), dtype=float)


def group_totals(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> tuple[Floats, Floats]:
    """Return the weight s_a and the association Q_a of every group.

    Parameters
    ----------
    M : CSR of shape (n, n)
        Symmetric; diagonal entries are passed over, ``diagonal`` holds them.
    diagonal, w : ndarray of shape (n,)
        Diagonal of M, and positive node weights.
    z : ndarray of shape (n,)
        Group of each node in ``range(k)``.
    k : int
        Number of groups.
    """
    from kgroups.hartigan._sweep_nb import add_totals

    check_labels(z, k)
    s, Q = np.zeros(k), np.zeros(k)
    add_totals(readonly(M), diagonal, w, z, s, Q)
    return s, Q


def group_association(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> float:
    r"""Return the weighted group association Q of a labelling.

    .. math:: Q(z) = \sum_a Q_a / s_a, \quad
        Q_a = \sum_{z_i = z_j = a} M_{ij}, \quad s_a = \sum_{z_i = a} w_i

    An empty group adds nothing. Parameters are those of :func:`group_totals`; the equation is
    *group-association* of the theory page.

    Examples
    --------
    >>> swap = CSR(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 1.0]))
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 0]), k=2)  # edge inside
    1.0
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 1]), k=2)  # edge cut
    0.0
    """
    s, Q = group_totals(M, diagonal, w, z, k=k)
    return float(np.sum(Q[s > 0] / s[s > 0]))
