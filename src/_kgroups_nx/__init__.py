"""What networkx asks of a backend while networkx itself is being imported.

This package stands apart so that ``import networkx`` loads nothing of kgroups, numpy or scipy.
"""

from typing import Any

__all__ = ["get_info"]

_SAME = "The same values, from sparse arrays."
_NO_MULTIGRAPHS = f"{_SAME} Multigraphs are left to networkx."
_IGRAPH = (
    "The same algorithm by igraph's C code: a seed gives the same partition each time, but not the "
    "one of networkx's own code. Directed graphs are left to networkx."
)
_LEIDEN = f"{_IGRAPH} A level is one iteration through all aggregations of the graph."

_DOCS = {
    "to_scipy_sparse_array": "The same matrix; 'coo' is left to networkx.",
    "modularity": _SAME,
    "partition_quality": _SAME,
    "intra_community_edges": _SAME,
    "inter_community_edges": _NO_MULTIGRAPHS,
    "inter_community_non_edges": _NO_MULTIGRAPHS,
    "bethe_hessian_matrix": "The same matrix.",
    "bethe_hessian_spectrum": "All eigenvalues as networkx, or the lowest ones by a sparse solver.",
    "leiden_communities": _LEIDEN,
    "leiden_partitions": _LEIDEN,
    "louvain_communities": _IGRAPH,
    "louvain_partitions": _IGRAPH,
}


def get_info() -> dict[str, Any]:
    """Return what networkx shows of this backend in help texts and ``nx.config``."""
    functions: dict[str, dict[str, Any]]
    functions = {name: {"additional_docs": docs} for name, docs in _DOCS.items()}
    functions["bethe_hessian_spectrum"]["additional_parameters"] = {
        "k : int, optional": "Return the k lowest eigenvalues in ascending order; all by default."
    }
    return {
        "backend_name": "kgroups",
        "project": "kgroups",
        "package": "kgroups",
        "short_summary": "Community detection and its scores on sparse arrays.",
        "functions": functions,
    }
