"""Graph in: everything that can hold a graph becomes one frozen ``Graph``."""

from kgroups.adapters.dispatch import as_graph
from kgroups.adapters.files import read_graph
from kgroups.adapters.order import canonical_order

__all__ = ["as_graph", "canonical_order", "read_graph"]
