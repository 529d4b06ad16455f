"""Description length of a partition: what it costs to send a graph by way of its communities."""

import numpy as np
import numpy.typing as npt

from kgroups._csr import rows_of
from kgroups._types import CSR, Floats, Ints

__all__ = ["DescriptionLength", "group_statistics"]


def group_statistics(A: CSR, z: Ints, k: int) -> Floats:
    """Return nodes, degree sum and inner edges of each group as rows of a (k, 3) array."""
    degree = np.diff(A.indptr)
    rows = rows_of(A)
    inner = z[rows[z[rows] == z[A.indices]]]
    return np.column_stack(
        [
            np.bincount(z, minlength=k),
            np.bincount(z, weights=degree, minlength=k),
            0.5 * np.bincount(inner, minlength=k),
        ]
    )


class DescriptionLength:
    r"""Nats to send a simple graph: first the partition, then the edges given the partition.

    Four codes compete and the shortest counts, for one community as for many. The edges are
    counted either as positions among the pairs of nodes (*plain*),
    :math:`\ln\binom{P_{in}}{E_{in}} + \ln\binom{P_{out}}{E_{out}}`, or as matchings of the nodes'
    degrees (*degree-corrected*); each with one density for all communities or one for each. The
    partition costs :math:`\ln\binom{n-1}{k-1} + \ln\frac{n!}{\prod_a n_a!} - \ln k!`.

    A random graph is rarely shortened by any partition: by Kraft's inequality at most a part
    :math:`e^{-x}` of all graphs is shortened by x nats. So a split that shortens the description
    is structure, whatever the spectral threshold says.

    Parameters
    ----------
    A : CSR of shape (n, n)
        Adjacency matrix without self-loops; weights are not looked at.
    parent : ndarray of shape (n,), optional
        Where the graph is a union of several, which are to be described one by one: the graph of
        each node. Lengths are arrays then, with one value for each.
    """

    def __init__(self, A: CSR, parent: Ints | None = None) -> None:
        from scipy.special import gammaln

        degree = np.diff(A.indptr).astype(float)
        if parent is None:
            parent = np.zeros(degree.size, dtype=np.int64)
            self.n, self.m = np.array(float(degree.size)), np.array(degree.sum() / 2.0)
            orders = np.array(gammaln(degree + 1.0).sum())
        else:
            self.n = np.bincount(parent).astype(float)
            self.m = np.asarray(np.bincount(parent, weights=degree) / 2.0, dtype=float)
            orders = np.bincount(parent, weights=gammaln(degree + 1.0))
        n, m = self.n, self.m
        self._degrees_alone = (
            _log_binomial(n + 2.0 * m - 1.0, 2.0 * m)
            + gammaln(2.0 * m + 1.0)
            - m * np.log(2.0)
            - gammaln(m + 1.0)
            - orders
        )

    def terms(self, statistics: npt.NDArray[np.float64], parent: Ints | None = None) -> Floats:
        """Return what each group adds to the sums that :meth:`length` needs, one row a group.

        ``parent`` names the graph of each group, where there are several.
        """
        from scipy.special import gammaln, xlogy

        nodes, degrees, inner = np.moveaxis(statistics, -1, 0)
        m = self.m if parent is None else self.m[parent]
        pairs = nodes * (nodes - 1.0) / 2.0
        expected = np.square(degrees) / np.maximum(4.0 * m, np.finfo(float).tiny)
        ratio = np.divide(inner, expected, out=np.ones_like(inner), where=expected > 0.0)
        return np.stack(
            [
                np.ones_like(nodes),
                gammaln(nodes + 1.0),
                pairs,
                inner,
                expected,
                _log_binomial(pairs, inner),
                xlogy(inner, ratio),
                np.log(np.minimum(pairs, m) + 1.0),
            ],
            axis=-1,
        )

    def length(self, sums: Floats) -> Floats:
        """Return the description length in nats from summed terms (last axis)."""
        from scipy.special import gammaln, xlogy

        k, log_orders, pairs, inner, expected, plain, corrected, densities = np.moveaxis(
            sums, -1, 0
        )
        n, m = self.n, self.m
        partition = _log_binomial(n - 1.0, k - 1.0) + gammaln(n + 1.0) - log_orders
        partition = partition - gammaln(k + 1.0)
        several = k > 1.0
        one_density = np.where(several, np.log(m + 1.0), 0.0)
        own_density = np.where(several, densities, 0.0)
        cut = m - inner
        plain_shared = _log_binomial(pairs, inner) + one_density
        plain_inside = np.minimum(plain_shared, plain + own_density)
        plain_between = _log_binomial(n * (n - 1.0) / 2.0 - pairs, cut)
        shared = xlogy(
            inner, np.divide(inner, expected, where=expected > 0, out=np.ones_like(inner))
        )
        gain_inside = np.maximum(shared - one_density, corrected - own_density)
        left = np.maximum(m - expected, np.finfo(float).tiny)
        gain_between = xlogy(cut, np.maximum(cut, np.finfo(float).tiny) / left)
        edges = np.minimum(
            plain_inside + plain_between, self._degrees_alone - gain_inside - gain_between
        )
        return np.asarray(partition + edges, dtype=float)

    def whole(self) -> float:
        """Return the description length of the graph in one piece."""
        return float(self.each_whole())

    def each_whole(self) -> Floats:
        """Return the description length of each graph in one piece."""
        statistics = np.stack([self.n, 2.0 * self.m, self.m], axis=-1)
        return self.length(self.terms(statistics, None))

    def of(self, A: CSR, z: Ints, k: int) -> float:
        """Return the description length of a partition of the graph."""
        return float(self.length(self.terms(group_statistics(A, z, k)).sum(axis=0)))


def _log_binomial(n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    from scipy.special import gammaln

    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0.0) + 1.0))
