"""The neighbor graph of cells in an AnnData object to ``Graph``."""

from dataclasses import replace
from typing import Any

from kgroups._wording import argument, listed
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.matrices import from_dense, from_sparse
from kgroups.adapters.tables import check_distinct
from kgroups.errors import GraphError
from kgroups.graph import Graph

_KEY = "connectivities"


def from_anndata(adata: Any, options: ReadOptions) -> Graph:
    """Convert a matrix of ``adata.obsp``: connectivities, or the one that ``weight`` names."""
    key = _KEY if options.weight in (None, "weight") else options.weight
    if key not in adata.obsp:
        hint = (
            "Compute it, for instance with scanpy: sc.pp.neighbors(adata)."
            if key == _KEY
            else "Pass the key of a matrix of similarities."
        )
        msg = (
            f"the neighbor graph of an AnnData must be in adata.obsp[{key!r}], got the keys "
            f"{listed(adata.obsp)}.\n  {hint} {argument('weight')} names another key."
        )
        raise GraphError(msg)
    nodes = adata.obs_names.tolist()
    check_distinct(nodes, "adata.obs_names; adata.obs_names_make_unique() renames them")
    # The key is not the name of an attribute.
    options = replace(options, weight=None if options.weight is None else "weight")
    matrix = adata.obsp[key]
    return (from_sparse if hasattr(matrix, "tocsr") else from_dense)(matrix, options, nodes)
