"""The table of all functions that this backend serves, and the rules when it does."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import networkx as nx

from kgroups.adapters.networkx import is_plain
from kgroups.backends.networkx import (
    communities,
    components,
    cuts,
    generators,
    linalg,
    propagation,
    quality,
)
from kgroups.backends.networkx.convert import convert_from_nx, convert_to_nx, converted
from kgroups.backends.networkx.rules import (
    NETWORKX_VERSION,
    Decision,
    known_stream,
    no_multigraph,
    undirected,
)
from kgroups.backends.networkx.suite import on_start_tests

__all__ = ["SERVED", "Served", "backend_interface"]


@dataclass(frozen=True)
class Served:
    """A function under networkx's name, and when networkx may or should call it.

    Attributes
    ----------
    function : callable
        Takes what networkx's function takes, with the same defaults.
    declines : callable, optional
        Says why a call cannot be served, from its arguments by name; None if it can.
    cold_from : int or None
        Number of nodes from which conversion and call together beat networkx; None for functions
        that only win on graphs that are converted already.
    warm_from : int
        Number of nodes from which the call beats networkx on a converted graph.
    beats_views : bool
        Whether it wins on views too, which are converted edge by edge for each call.
    """

    function: Callable[..., Any]
    declines: Callable[[Mapping[str, Any]], str | None] | None = None
    cold_from: int | None = None
    warm_from: int = 0
    beats_views: bool = False
    signature: inspect.Signature = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", inspect.signature(self.function))


SERVED: dict[str, Served] = {
    "to_scipy_sparse_array": Served(linalg.to_scipy_sparse_array, cold_from=100),
    "modularity": Served(quality.modularity, cold_from=100),
    "is_partition": Served(quality.is_partition),
    "partition_quality": Served(quality.partition_quality),
    "intra_community_edges": Served(quality.intra_community_edges),
    "inter_community_edges": Served(quality.inter_community_edges, declines=no_multigraph),
    "inter_community_non_edges": Served(quality.inter_community_non_edges, declines=no_multigraph),
    "bethe_hessian_matrix": Served(linalg.bethe_hessian_matrix, cold_from=100),
    "bethe_hessian_spectrum": Served(linalg.bethe_hessian_spectrum, cold_from=100),
    "stochastic_block_model": Served(generators.stochastic_block_model, declines=known_stream),
    "random_partition_graph": Served(generators.random_partition_graph, declines=known_stream),
    "planted_partition_graph": Served(generators.planted_partition_graph, declines=known_stream),
    "gaussian_random_partition_graph": Served(
        generators.gaussian_random_partition_graph, declines=known_stream
    ),
    "leiden_communities": Served(
        communities.leiden_communities
        if NETWORKX_VERSION < (3, 7)
        else communities.leiden_communities_by_metric,
        declines=undirected,
        cold_from=0,
        beats_views=True,
    ),
    "leiden_partitions": Served(
        communities.leiden_partitions
        if NETWORKX_VERSION < (3, 7)
        else communities.leiden_partitions_by_metric,
        declines=undirected,
        cold_from=0,
        beats_views=True,
    ),
    "louvain_communities": Served(
        communities.louvain_communities, declines=undirected, cold_from=0, beats_views=True
    ),
    "louvain_partitions": Served(
        communities.louvain_partitions, declines=undirected, cold_from=0, beats_views=True
    ),
    "asyn_lpa_communities": Served(propagation.asyn_lpa_communities, cold_from=0),
    "fast_label_propagation_communities": Served(
        propagation.fast_label_propagation_communities, cold_from=0
    ),
    "label_propagation_communities": Served(propagation.label_propagation_communities, cold_from=0),
    "connected_components": Served(components.connected_components),
    "number_connected_components": Served(components.number_connected_components),
    "is_connected": Served(components.is_connected),
    "node_connected_component": Served(components.node_connected_component),
    "conductance": Served(cuts.conductance),
    "cut_size": Served(cuts.cut_size),
    "volume": Served(cuts.volume),
}


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Say whether a call can be served: True, or the reason why it cannot."""
    served = SERVED[name]
    try:
        arguments = served.signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        return str(error)
    reason = served.declines(arguments) if served.declines is not None else None
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Say whether a call with a conversion would be faster here than in networkx."""
    served = SERVED[name]
    graph = args[0] if args else kwargs["G"]
    attribute = _attribute(served, args, kwargs)
    n = len(graph)
    if converted(graph, attribute):
        return n >= served.warm_from or f"a graph of {n} nodes is too small to gain"
    if served.cold_from is None:
        return "faster only on graphs that are converted already"
    if n < served.cold_from:
        return f"a graph of {n} nodes is too small to gain"
    if not served.beats_views and not (isinstance(graph, nx.Graph) and is_plain(graph)):
        return "views are converted edge by edge, which takes as long as networkx"
    return True


def _attribute(served: Served, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    parameter = served.signature.parameters.get("weight")
    if parameter is None:
        return None
    bound = served.signature.bind(*args, **kwargs).arguments
    weight: str | None = bound.get("weight", parameter.default)
    return weight


backend_interface = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=can_run,
    should_run=should_run,
    on_start_tests=on_start_tests,
    **{name: served.function for name, served in SERVED.items()},
)
