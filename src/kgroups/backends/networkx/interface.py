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
    nodes_in_blocks,
    nodes_in_set,
    simple_undirected,
    undirected,
)
from kgroups.backends.networkx.suite import on_start_tests

__all__ = ["SERVED", "Served", "backend_interface"]


@dataclass(frozen=True)
class Served:
    """A function under networkx's name, and when networkx may or should call it.

    The numbers of nodes are where the two are equally fast, as ``benchmarks/backend.py`` shows.

    Attributes
    ----------
    function : callable
        Takes what networkx's function takes, with the same defaults.
    declines : callable, optional
        Says why a call cannot be served, from its arguments by name; None if it can.
    leaves : callable, optional
        The same for calls that the function itself refuses. Where this backend is asked for by
        name, the traceback then has the reason, which networkx leaves out for ``declines``.
    cold_from : int or None
        Number of nodes from which conversion and call together beat networkx; None for functions
        that only win on graphs that are converted already.
    warm_from : int
        Number of nodes from which the call beats networkx on a converted graph.
    beats_views : bool
        Whether it wins on views too, which are converted edge by edge for each call.
    looked_at : callable, optional
        Number of nodes that networkx would look at, for functions of a part of the graph: arrays
        are read whole, which pays only if the part is not small.
    """

    function: Callable[..., Any]
    declines: Callable[[Mapping[str, Any]], str | None] | None = None
    leaves: Callable[[Mapping[str, Any]], str | None] | None = None
    cold_from: int | None = None
    warm_from: int = 0
    beats_views: bool = False
    looked_at: Callable[[Mapping[str, Any]], int] | None = None
    signature: inspect.Signature = field(init=False, repr=False)
    positional: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        signature = inspect.signature(self.function)
        positional = (p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY)
        object.__setattr__(self, "signature", signature)
        object.__setattr__(self, "positional", tuple(positional))

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | str:
        """Return the arguments of a call by name, or why the function cannot be called so.

        Much quicker than ``Signature.bind``, since networkx asks before each call.
        """
        if len(args) > len(self.positional):
            return f"at most {len(self.positional)} arguments by position, got {len(args)}"
        named = dict(zip(self.positional, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.signature.parameters or name in named:
                return f"unexpected keyword argument {name!r}"
            named[name] = value
        return named


_OLD_LEIDEN = NETWORKX_VERSION < (3, 7)
_LEAST_PART = 1 / 40

SERVED: dict[str, Served] = {
    "to_scipy_sparse_array": Served(linalg.to_scipy_sparse_array, cold_from=150),
    "modularity": Served(quality.modularity, cold_from=200, warm_from=20),
    "is_partition": Served(quality.is_partition, warm_from=2_000),
    "partition_quality": Served(quality.partition_quality, warm_from=100),
    "intra_community_edges": Served(
        quality.intra_community_edges, warm_from=20, looked_at=nodes_in_blocks
    ),
    "inter_community_edges": Served(
        quality.inter_community_edges,
        declines=no_multigraph,
        cold_from=50,
        looked_at=nodes_in_blocks,
    ),
    "inter_community_non_edges": Served(
        quality.inter_community_non_edges,
        declines=no_multigraph,
        cold_from=50,
        looked_at=nodes_in_blocks,
    ),
    "bethe_hessian_matrix": Served(linalg.bethe_hessian_matrix, cold_from=150),
    "bethe_hessian_spectrum": Served(
        linalg.bethe_hessian_spectrum, declines=simple_undirected, cold_from=150
    ),
    "stochastic_block_model": Served(generators.stochastic_block_model, declines=known_stream),
    "random_partition_graph": Served(generators.random_partition_graph, declines=known_stream),
    "planted_partition_graph": Served(generators.planted_partition_graph, declines=known_stream),
    "gaussian_random_partition_graph": Served(
        generators.gaussian_random_partition_graph, declines=known_stream
    ),
    "leiden_communities": Served(
        communities.leiden_communities if _OLD_LEIDEN else communities.leiden_communities_by_metric,
        leaves=undirected,
        cold_from=20,
        beats_views=True,
    ),
    "leiden_partitions": Served(
        communities.leiden_partitions if _OLD_LEIDEN else communities.leiden_partitions_by_metric,
        leaves=undirected,
        cold_from=20,
        beats_views=True,
    ),
    "louvain_communities": Served(
        communities.louvain_communities, leaves=undirected, cold_from=20, beats_views=True
    ),
    "louvain_partitions": Served(
        communities.louvain_partitions, leaves=undirected, cold_from=20, beats_views=True
    ),
    "asyn_lpa_communities": Served(
        propagation.asyn_lpa_communities, cold_from=60, warm_from=20, beats_views=True
    ),
    "fast_label_propagation_communities": Served(
        propagation.fast_label_propagation_communities,
        cold_from=100,
        warm_from=30,
        beats_views=True,
    ),
    "label_propagation_communities": Served(
        propagation.label_propagation_communities,
        cold_from=60,
        warm_from=20,
        beats_views=True,
    ),
    "connected_components": Served(components.connected_components, warm_from=2_000),
    "number_connected_components": Served(components.number_connected_components, warm_from=2_000),
    "is_connected": Served(components.is_connected, warm_from=2_000),
    "node_connected_component": Served(components.node_connected_component, warm_from=2_000),
    "conductance": Served(cuts.conductance, warm_from=100),
    "cut_size": Served(cuts.cut_size, warm_from=200, looked_at=nodes_in_set),
    "volume": Served(cuts.volume, warm_from=200, looked_at=nodes_in_set),
}


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Say whether a call can be served: True, or the reason why it cannot."""
    served = SERVED[name]
    arguments = served.arguments(args, kwargs)
    if isinstance(arguments, str):
        return arguments
    reason = served.declines(arguments) if served.declines is not None else None
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Say whether a call with a conversion would be faster here than in networkx."""
    served = SERVED[name]
    graph = args[0] if args else kwargs["G"]
    if not served.beats_views and not (isinstance(graph, nx.Graph) and is_plain(graph)):
        # Asked first: a view counts its nodes one by one.
        return "views are converted edge by edge, which takes as long as networkx"
    n = len(graph)
    if n < served.warm_from:
        return "the graph is too small to gain"
    arguments = served.arguments(args, kwargs)
    if isinstance(arguments, str):
        return arguments
    reason = served.leaves(arguments) if served.leaves is not None else None
    if reason is not None:
        return reason
    if served.looked_at is not None and served.looked_at(arguments) < _LEAST_PART * n:
        return "networkx looks at a small part of the graph only"
    if converted(graph, _weight(served, arguments)):
        return True
    if served.cold_from is None:
        return "faster only on graphs that are converted already"
    if n < served.cold_from:
        return "the graph is too small to gain from a conversion"
    return True


def _weight(served: Served, arguments: Mapping[str, Any]) -> str | None:
    parameter = served.signature.parameters.get("weight")
    if parameter is None:
        return None
    weight: str | None = arguments.get("weight", parameter.default)
    return weight


backend_interface = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=can_run,
    should_run=should_run,
    on_start_tests=on_start_tests,
    **{name: served.function for name, served in SERVED.items()},
)
