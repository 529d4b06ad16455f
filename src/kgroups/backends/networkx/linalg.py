"""networkx's matrices and spectra of graphs, from the arrays of a converted graph."""

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from kgroups._blas import DENSE
from kgroups._types import Floats, Ints
from kgroups._validation import check_integer
from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.errors import InputError
from kgroups.spectrum import largest_eigenpairs

if TYPE_CHECKING:
    from scipy import sparse


def to_scipy_sparse_array(
    G: ConvertedGraph,
    nodelist: Sequence[Hashable] | None = None,
    dtype: Any = None,
    weight: str | None = "weight",
    format: str = "csr",
) -> Any:
    """As :func:`networkx.convert_matrix.to_scipy_sparse_array`."""
    if len(G) == 0:
        msg = "Graph has no nodes or edges"
        raise nx.NetworkXError(msg)
    if format == "coo":
        msg = "networkx lists the entries of this format in the order of its edges"
        raise NotImplementedError(msg)
    order = None if nodelist is None else _rows_of(G, nodelist)
    matrix = _adjacency(G, weight, dtype)
    if order is not None:
        matrix = matrix[order][:, order]
        matrix.sort_indices()
    if dtype is None and matrix.nnz == 0:
        # networkx builds the matrix from an empty list, which numpy takes for floats.
        matrix = matrix.astype(np.float64)
    try:
        return matrix.asformat(format)
    except ValueError as error:
        msg = f"Unknown sparse matrix format: {format}"
        raise nx.NetworkXError(msg) from error


def bethe_hessian_matrix(
    G: ConvertedGraph, r: float | None = None, nodelist: Sequence[Hashable] | None = None
) -> "sparse.csr_array":
    """As :func:`networkx.linalg.bethehessianmatrix.bethe_hessian_matrix`, its default r too."""
    from scipy import sparse

    if G.is_multigraph():
        msg = "networkx defines it for graphs without parallel edges only"
        raise NotImplementedError(msg)
    if r is None:
        degrees = G.degrees(None)
        r = int((degrees**2).sum()) / int(degrees.sum()) - 1
    if not isinstance(r, Real):
        msg = f"r must be a real number, got {r!r}"
        raise NotImplementedError(msg)
    A = to_scipy_sparse_array(G, nodelist=nodelist)
    n = A.shape[0]
    D = sparse.dia_array((A.sum(axis=1)[np.newaxis], [0]), shape=(n, n)).tocsr()
    return (r**2 - 1) * sparse.eye_array(n, format="csr") - r * A + D


def bethe_hessian_spectrum(
    G: ConvertedGraph, r: float | None = None, *, k: int | None = None
) -> Floats:
    """As :func:`networkx.linalg.spectrum.bethe_hessian_spectrum`, or its lowest part.

    Parameters
    ----------
    G : ConvertedGraph
        The graph.
    r : float, optional
        Regularizer; networkx's default when not given.
    k : int, optional
        Number of eigenvalues, the lowest ones; all by default, as networkx returns them.

    Returns
    -------
    ndarray of float
        In ascending order.
    """
    from scipy.linalg import eigvalsh

    H = bethe_hessian_matrix(G, r)
    n = H.shape[0]
    if k is None:
        return np.asarray(eigvalsh(H.toarray()))
    count = check_integer("k", k)
    if count > n:
        msg = f"k must not exceed the number of nodes, got k={count} for {n} nodes."
        raise InputError(msg)
    if n <= DENSE.eigenvalues or 4 * count >= n:
        return np.asarray(eigvalsh(H.toarray(), subset_by_index=(0, count - 1)))
    start = 0.5 + np.random.default_rng(0).random(n)
    return -largest_eigenpairs(-H, count, start)[0]


def _adjacency(G: ConvertedGraph, weight: str | None, dtype: Any) -> "sparse.csr_array":
    """Return a matrix with new arrays, in the number type that networkx would choose."""
    from scipy import sparse

    weights = G.weights_of(weight)
    data = np.ones(len(G.indices), dtype=np.int64) if weights is None else weights
    if dtype is not None:
        data = _cast(G, data, dtype)
    parts = (data.copy(), G.indices.copy(), G.indptr.copy())
    return sparse.csr_array(parts, shape=(len(G), len(G)))


def _cast(G: ConvertedGraph, data: Any, dtype: Any) -> Any:
    """Cast as networkx does: each edge by itself, before parallel edges are added up."""
    try:
        wanted = np.dtype(dtype)
    except TypeError as error:
        msg = f"dtype {dtype!r} is not known to numpy"
        raise NotImplementedError(msg) from error
    if wanted == data.dtype:
        return data
    if wanted != np.float64 and (wanted != np.float32 or G.counts is not None):
        msg = f"weights of type {data.dtype} are not cast to {wanted}"
        raise NotImplementedError(msg)
    return data.astype(wanted)


def _rows_of(G: ConvertedGraph, nodelist: Sequence[Hashable]) -> Ints:
    if len(nodelist) == 0:
        msg = "nodelist has no nodes"
        raise nx.NetworkXError(msg)
    if not isinstance(nodelist, list) and nodelist in G:
        msg = "networkx would take a nodelist that is a node for that one node"
        raise NotImplementedError(msg)
    for node in nodelist:
        if node not in G:
            msg = f"Node {node} in nodelist is not in G"
            raise nx.NetworkXError(msg)
    rows = np.fromiter(map(G.index.__getitem__, nodelist), np.int64, len(nodelist))
    if np.unique(rows).size < rows.size:
        msg = "nodelist contains duplicates."
        raise nx.NetworkXError(msg)
    return rows
