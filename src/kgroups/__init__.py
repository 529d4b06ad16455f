"""Communities of graphs by kernel k-groups on the Bethe Hessian."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups import datasets, energy, errors, generators, metrics, plotting, scoring, studies
    from kgroups._warm import warm
    from kgroups.adapters import as_graph, read_graph
    from kgroups.blocks import Dask, StoredGraph, StoredPartition, open_graph
    from kgroups.detect import detect_communities, refine_partition
    from kgroups.graph import Graph
    from kgroups.hartigan import Hartigan, KMeansInit, QRInit, WarmStart
    from kgroups.inference import BeliefPropagation
    from kgroups.partition import Levels, Partition
    from kgroups.search import Auto, Search, Spectral
    from kgroups.spectrum import BetheHessian, estimate_k
    from kgroups.uncertainty import KDistribution, Stability, k_distribution
    from kgroups.uncertainty.posterior import Posterior, posterior
    from kgroups.uncertainty.significance import Significance, significance

__version__ = "0.1.0"

__all__ = [
    "Auto",
    "BeliefPropagation",
    "BetheHessian",
    "Dask",
    "Graph",
    "Hartigan",
    "KDistribution",
    "KMeansInit",
    "Levels",
    "Partition",
    "Posterior",
    "QRInit",
    "Search",
    "Significance",
    "Spectral",
    "Stability",
    "StoredGraph",
    "StoredPartition",
    "WarmStart",
    "as_graph",
    "datasets",
    "detect_communities",
    "energy",
    "errors",
    "estimate_k",
    "generators",
    "k_distribution",
    "metrics",
    "open_graph",
    "plotting",
    "posterior",
    "read_graph",
    "refine_partition",
    "scoring",
    "significance",
    "studies",
    "warm",
]

_NAMES_OF_PACKAGE = {
    "_warm": ("warm",),
    "adapters": ("as_graph", "read_graph"),
    "blocks": ("Dask", "StoredGraph", "StoredPartition", "open_graph"),
    "detect": ("detect_communities", "refine_partition"),
    "graph": ("Graph",),
    "hartigan": ("Hartigan", "KMeansInit", "QRInit", "WarmStart"),
    "inference": ("BeliefPropagation",),
    "partition": ("Levels", "Partition"),
    "search": ("Auto", "Search", "Spectral"),
    "spectrum": ("BetheHessian", "estimate_k"),
    "uncertainty": (
        "KDistribution",
        "Posterior",
        "Significance",
        "Stability",
        "k_distribution",
        "posterior",
        "significance",
    ),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import kgroups`` is fast."""
    for package, names in _NAMES_OF_PACKAGE.items():
        if name in names:
            return getattr(import_module(f"kgroups.{package}"), name)
    if name in __all__:
        return import_module(f"kgroups.{name}")
    msg = f"module 'kgroups' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
