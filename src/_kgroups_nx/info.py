"""Names and summaries of the functions that kgroups serves; plain data, no imports."""

from typing import Any

__all__ = ["get_info"]

_SAME = "The same values, from sparse arrays."

_SEEDED = "The same graph for a seed; seeds other than whole numbers are left to networkx."
_IGRAPH = (
    "The same algorithm by igraph's C code: a seed gives the same partition each time, but not the "
    "one of networkx's own code. Directed graphs are left to networkx."
)
_LEIDEN = f"{_IGRAPH} A level is one iteration through all aggregations of the graph."

_PROPAGATION = (
    "The same update rule, compiled: a seed gives the same communities each time, but not the ones "
    "of networkx's own code."
)

_FUNCTIONS: dict[str, dict[str, Any]] = {
    "to_scipy_sparse_array": {"additional_docs": "The same matrix; 'coo' is left to networkx."},
    "modularity": {"additional_docs": _SAME},
    "is_partition": {"additional_docs": _SAME},
    "partition_quality": {"additional_docs": _SAME},
    "intra_community_edges": {"additional_docs": _SAME},
    "inter_community_edges": {"additional_docs": f"{_SAME} Multigraphs are left to networkx."},
    "inter_community_non_edges": {"additional_docs": f"{_SAME} Multigraphs are left to networkx."},
    "bethe_hessian_matrix": {"additional_docs": "The same matrix."},
    "bethe_hessian_spectrum": {
        "additional_docs": "All eigenvalues as networkx, or the lowest ones by a sparse solver.",
        "additional_parameters": {
            "k : int, optional": "Return the k lowest eigenvalues, rising; all by default."
        },
    },
    "stochastic_block_model": {"additional_docs": _SEEDED},
    "random_partition_graph": {"additional_docs": _SEEDED},
    "planted_partition_graph": {"additional_docs": _SEEDED},
    "gaussian_random_partition_graph": {"additional_docs": _SEEDED},
    "leiden_communities": {"additional_docs": _LEIDEN},
    "leiden_partitions": {"additional_docs": _LEIDEN},
    "louvain_communities": {"additional_docs": _IGRAPH},
    "louvain_partitions": {"additional_docs": _IGRAPH},
    "asyn_lpa_communities": {"additional_docs": _PROPAGATION},
    "fast_label_propagation_communities": {"additional_docs": _PROPAGATION},
    "label_propagation_communities": {"additional_docs": "The same communities."},
    "connected_components": {"additional_docs": _SAME},
    "number_connected_components": {"additional_docs": _SAME},
    "is_connected": {"additional_docs": _SAME},
    "node_connected_component": {"additional_docs": _SAME},
    "conductance": {"additional_docs": _SAME},
    "cut_size": {"additional_docs": _SAME},
    "volume": {"additional_docs": _SAME},
}


def get_info() -> dict[str, Any]:
    """Return what networkx shows of this backend in help texts and ``nx.config``."""
    return {
        "backend_name": "kgroups",
        "project": "kgroups",
        "package": "kgroups",
        "short_summary": "Community detection and its scores on sparse arrays.",
        "functions": {name: dict(info) for name, info in _FUNCTIONS.items()},
    }
