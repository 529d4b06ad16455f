"""Input: everything that can hold a graph or a partition, converted to ``Graph`` and labels."""

from kgroups.adapters.dispatch import as_graph, is_stored
from kgroups.adapters.edges import MAX_EXPANSION
from kgroups.adapters.files import FORMATS, read_graph
from kgroups.adapters.labels import (
    Labeling,
    SharedLabels,
    as_labels,
    as_shared_labels,
    check_length,
    check_named_once,
    positions_of,
    read_labeling,
)
from kgroups.adapters.libraries import igraph_draws_from
from kgroups.adapters.networkx import Structure, is_plain
from kgroups.adapters.numbering import by_first_node

__all__ = [
    "FORMATS",
    "MAX_EXPANSION",
    "Labeling",
    "SharedLabels",
    "Structure",
    "as_graph",
    "as_labels",
    "as_shared_labels",
    "by_first_node",
    "check_length",
    "check_named_once",
    "igraph_draws_from",
    "is_plain",
    "is_stored",
    "positions_of",
    "read_graph",
    "read_labeling",
]
