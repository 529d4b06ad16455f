"""The networkx backend ``kgroups``: networkx's functions, by networkx's names, on CSR arrays."""

from kgroups.backends.networkx.interface import backend_interface

__all__ = ["backend_interface"]
