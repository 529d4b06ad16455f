"""The Bethe Hessian of one graph at one r, as bare arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kgroups._csr import block, restricted, rows_of
from kgroups._types import CSR, Floats, Ints
from kgroups.operators.rows import row_sums

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["BoundBetheHessian"]


@dataclass(frozen=True, eq=False)
class BoundBetheHessian:
    r"""H = diag(diagonal) - coupling, and N = diag(diagonal)^{-1/2} coupling diag(diagonal)^{-1/2}.

    Attributes
    ----------
    r : float
        The parameter, in units of the weights in the weighted form.
    r_choice : str
        How r was chosen: "mean-degree", "second-moment", "nonbacktracking" or "given".
    c : float
        Mean number of entries of a row, over the rows that have one.
    diagonal : ndarray of shape (n,)
        Positive. ``r**2 - 1 + d`` unweighted, ``1 + sum(w**2 / (r**2 - w**2))`` weighted.
    coupling : CSR
        Non-negative. ``r A`` unweighted, ``r w / (r**2 - w**2)`` weighted; kept self-loops stand
        on its diagonal.
    bare : float
        What `diagonal` is on a node without edges.
    saturated : int
        Number of edges whose weight was bent because it came near r.
    trivial : bool
        No edges, or r not given and c <= 1, which is a set of lone edges: there is nothing to
        find and the count is 0.
    """

    r: float
    r_choice: str
    c: float
    diagonal: Floats
    coupling: CSR
    bare: float
    saturated: int
    trivial: bool

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.diagonal)

    @property
    def nnz(self) -> int:
        """Number of entries of the coupling."""
        return len(self.coupling.indices)

    @cached_property
    def edge_terms(self) -> Floats:
        """What each entry of the coupling adds to the diagonal of its row.

        With g the coupling and b the bare diagonal, the term e solves e (e + b) = g**2.
        """
        half = self.bare / 2.0
        return np.sqrt(half * half + np.square(self.coupling.data)) - half

    @cached_property
    def normalized(self) -> CSR:
        """N as bare arrays."""
        scale = 1.0 / np.sqrt(self.diagonal)
        indptr, indices, data = self.coupling
        scaled = data * np.repeat(scale, np.diff(indptr)) * scale[indices]
        return CSR(indptr, indices, scaled)

    def coupling_matrix(self) -> "sparse.csr_array":
        """Return the coupling as a sparse matrix."""
        from scipy import sparse

        indptr, indices, data = self.coupling
        return sparse.csr_array((data, indices, indptr), shape=(self.n, self.n))

    def matrix(self) -> "sparse.csr_array":
        """Return H as a sparse matrix."""
        from scipy import sparse

        return (sparse.diags_array(self.diagonal, format="csr") - self.coupling_matrix()).tocsr()

    def normalized_matrix(self) -> "sparse.csr_array":
        """Return N as a sparse matrix."""
        from scipy import sparse

        indptr, indices, data = self.normalized
        return sparse.csr_array((data, indices, indptr), shape=(self.n, self.n))

    def normalized_dense(self) -> Floats:
        """Return N as a dense array."""
        dense = np.zeros((self.n, self.n))
        dense[rows_of(self.coupling), self.coupling.indices] = self.normalized.data
        return dense

    def restrict(self, rows: Ints) -> "BoundBetheHessian":
        """Return the principal part on ``rows``, in that order, with r and diagonal unchanged."""
        return self._with(self.diagonal[rows], restricted(self.coupling, rows))

    def block(self, start: int, stop: int) -> "BoundBetheHessian":
        """Return the principal part on consecutive rows, with r and diagonal unchanged."""
        return self._with(self.diagonal[start:stop], block(self.coupling, start, stop))

    def on_core(self, rows: Ints) -> "BoundBetheHessian":
        """Return H of the graph that is left when all but ``rows`` are taken away, r unchanged.

        Unlike :meth:`restrict` the diagonal loses the terms of the edges that went. Taking away
        a node of degree 1 is a step of Gaussian elimination with a positive pivot, so on the
        2-core H has as many negative eigenvalues as on the graph.
        """
        part = self.restrict(rows)
        terms = row_sums(rows_of(part.coupling), part.edge_terms, part.n)
        return self._with(self.bare + terms, part.coupling)

    def _with(self, diagonal: Floats, coupling: CSR) -> "BoundBetheHessian":
        return BoundBetheHessian(
            r=self.r,
            r_choice=self.r_choice,
            c=self.c,
            diagonal=diagonal,
            coupling=coupling,
            bare=self.bare,
            saturated=self.saturated,
            trivial=self.trivial,
        )
