"""Communities of graphs by kernel k-groups on the Bethe Hessian."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups import datasets, energy, errors, generators, metrics, scoring, studies
    from kgroups.adapters import as_graph, read_graph
    from kgroups.detect import detect_communities, refine_partition
    from kgroups.embedding import KMeansSeed, QRSeed, WarmStart
    from kgroups.graph import Graph
    from kgroups.operators import BetheHessian
    from kgroups.partition import Partition
    from kgroups.refine import Hartigan
    from kgroups.search import Auto, Exact, FewGroups, ManyGroups, Search
    from kgroups.spectrum import estimate_k

__version__ = "0.1.0"

__all__ = [
    "Auto",
    "BetheHessian",
    "Exact",
    "FewGroups",
    "Graph",
    "Hartigan",
    "KMeansSeed",
    "ManyGroups",
    "Partition",
    "QRSeed",
    "Search",
    "WarmStart",
    "as_graph",
    "datasets",
    "detect_communities",
    "energy",
    "errors",
    "estimate_k",
    "generators",
    "metrics",
    "read_graph",
    "refine_partition",
    "scoring",
    "studies",
]

_ROOM_OF_NAME = {
    "Auto": "search",
    "BetheHessian": "operators",
    "Exact": "search",
    "FewGroups": "search",
    "Graph": "graph",
    "Hartigan": "refine",
    "KMeansSeed": "embedding",
    "ManyGroups": "search",
    "Partition": "partition",
    "QRSeed": "embedding",
    "Search": "search",
    "WarmStart": "embedding",
    "as_graph": "adapters",
    "detect_communities": "detect",
    "estimate_k": "spectrum",
    "read_graph": "adapters",
    "refine_partition": "detect",
}
_PUBLIC_ROOMS = ("datasets", "energy", "errors", "generators", "metrics", "scoring", "studies")


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF_NAME:
        return getattr(import_module(f"kgroups.{_ROOM_OF_NAME[name]}"), name)
    if name in _PUBLIC_ROOMS:
        return import_module(f"kgroups.{name}")
    msg = f"module 'kgroups' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
