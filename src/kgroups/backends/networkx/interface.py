"""The functions that this backend serves, and the rules when it does."""

import inspect
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import networkx as nx

from kgroups.adapters import is_plain
from kgroups.backends.networkx import communities, generators, linalg, quality
from kgroups.backends.networkx.convert import convert_from_nx, convert_to_nx, is_converted

NETWORKX_VERSION = tuple(int(part) for part in nx.__version__.split(".")[:2])

# Functions of a part of the graph are left to networkx if the part is smaller than this share.
_MIN_SHARE = 1 / 40

Arguments = Mapping[str, Any]
Decision = bool | str
"""True, or the reason why not: networkx writes it to its log."""


@dataclass(frozen=True)
class Served:
    """A function under networkx's name, and when networkx may or should call it.

    The numbers of nodes are where the two are equally fast, as ``benchmarks/backend.py`` shows.

    Attributes
    ----------
    function : callable
        Takes what networkx's function takes, with the same defaults.
    declines : callable, optional
        Returns why a call with these arguments cannot be served; None if it can.
    refuses : callable, optional
        The same for calls that the function itself refuses. If this backend is requested by name,
        the traceback then shows the reason, which networkx omits for ``declines``.
    min_nodes : int or None
        Number of nodes from which conversion and call together beat networkx; None for functions
        that only win on graphs that are already converted.
    min_nodes_converted : int
        Number of nodes from which the call beats networkx on a converted graph.
    beats_views : bool
        Whether it wins on views too, which are converted edge by edge for each call.
    nodes_read : callable, optional
        Number of nodes that networkx would read, for functions of a part of the graph: arrays are
        read as a whole, which pays only if the part is not small.
    """

    function: Callable[..., Any]
    declines: Callable[[Arguments], str | None] | None = None
    refuses: Callable[[Arguments], str | None] | None = None
    min_nodes: int | None = None
    min_nodes_converted: int = 0
    beats_views: bool = False
    nodes_read: Callable[[Arguments], int] | None = None
    signature: inspect.Signature = field(init=False, repr=False)
    positional: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        signature = inspect.signature(self.function)
        positional = (p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY)
        object.__setattr__(self, "signature", signature)
        object.__setattr__(self, "positional", tuple(positional))

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | str:
        """Return the arguments of a call by name, or why the function cannot be called so."""
        # Much faster than Signature.bind, and called before each call of networkx.
        if len(args) > len(self.positional):
            return f"at most {len(self.positional)} arguments by position, got {len(args)}"
        named = dict(zip(self.positional, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.signature.parameters or name in named:
                return f"unexpected keyword argument {name!r}"
            named[name] = value
        return named


def _no_multigraph(arguments: Arguments) -> str | None:
    if arguments["G"].is_multigraph():
        return "networkx counts parallel edges as one"
    return None


def known_stream(arguments: Arguments, version: tuple[int, ...] = NETWORKX_VERSION) -> str | None:
    """Decline versions of networkx whose draws of block models are not known."""
    if (3, 4) <= version < (3, 7):
        return None
    return f"networkx {nx.__version__} may draw another graph for the same seed"


def _undirected(arguments: Arguments) -> str | None:
    return communities.DIRECTED if arguments["G"].is_directed() else None


def _simple_undirected(arguments: Arguments) -> str | None:
    G = arguments["G"]
    if G.is_directed() or G.is_multigraph():
        return "networkx defines it for undirected graphs without parallel edges only"
    return None


def _nodes_in_set(arguments: Arguments) -> int:
    return len(arguments["S"]) if isinstance(arguments["S"], Sized) else 0


def _nodes_in_blocks(arguments: Arguments) -> int:
    blocks = arguments["partition"]
    if not isinstance(blocks, list | tuple | set | frozenset):
        return 0
    return sum(len(block) for block in blocks if isinstance(block, Sized))


_BY_IGRAPH: dict[str, Any] = {"refuses": _undirected, "min_nodes": 20, "beats_views": True}
_BETWEEN: dict[str, Any] = {
    "declines": _no_multigraph,
    "min_nodes": 50,
    "nodes_read": _nodes_in_blocks,
}
_PROPAGATION: dict[str, Any] = {"min_nodes": 60, "min_nodes_converted": 20, "beats_views": True}
_FAST_PROPAGATION = {**_PROPAGATION, "min_nodes": 100, "min_nodes_converted": 30}
_OLD_LEIDEN = (communities.leiden_communities, communities.leiden_partitions)
_NEW_LEIDEN = (communities.leiden_communities_by_metric, communities.leiden_partitions_by_metric)

_ALL = (
    Served(linalg.to_scipy_sparse_array, min_nodes=150),
    Served(quality.modularity, min_nodes=200, min_nodes_converted=20),
    Served(quality.is_partition, min_nodes_converted=2_000),
    Served(quality.partition_quality, min_nodes_converted=100),
    Served(quality.intra_community_edges, min_nodes_converted=20, nodes_read=_nodes_in_blocks),
    Served(quality.inter_community_edges, **_BETWEEN),
    Served(quality.inter_community_non_edges, **_BETWEEN),
    Served(linalg.bethe_hessian_matrix, min_nodes=150),
    Served(linalg.bethe_hessian_spectrum, declines=_simple_undirected, min_nodes=150),
    Served(generators.stochastic_block_model, declines=known_stream),
    Served(generators.random_partition_graph, declines=known_stream),
    Served(generators.planted_partition_graph, declines=known_stream),
    Served(generators.gaussian_random_partition_graph, declines=known_stream),
    *(
        Served(function, **_BY_IGRAPH)
        for function in (_OLD_LEIDEN if NETWORKX_VERSION < (3, 7) else _NEW_LEIDEN)
    ),
    Served(communities.louvain_communities, **_BY_IGRAPH),
    Served(communities.louvain_partitions, **_BY_IGRAPH),
    Served(communities.asyn_lpa_communities, **_PROPAGATION),
    Served(communities.fast_label_propagation_communities, **_FAST_PROPAGATION),
    Served(communities.label_propagation_communities, **_PROPAGATION),
    Served(quality.connected_components, min_nodes_converted=2_000),
    Served(quality.number_connected_components, min_nodes_converted=2_000),
    Served(quality.is_connected, min_nodes_converted=2_000),
    Served(quality.node_connected_component, min_nodes_converted=2_000),
    Served(quality.conductance, min_nodes_converted=100),
    Served(quality.cut_size, min_nodes_converted=200, nodes_read=_nodes_in_set),
    Served(quality.volume, min_nodes_converted=200, nodes_read=_nodes_in_set),
)
SERVED = {served.function.__name__.removesuffix("_by_metric"): served for served in _ALL}


def can_run(name: str, args: tuple[Any, ...], kwargs: Arguments) -> Decision:
    """Return True if a call can be served, or the reason why it cannot."""
    served = SERVED[name]
    arguments = served.arguments(args, kwargs)
    if isinstance(arguments, str):
        return arguments
    reason = served.declines(arguments) if served.declines is not None else None
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: Arguments) -> Decision:
    """Return True if a call with its conversion is faster here, or the reason why it is not."""
    served = SERVED[name]
    graph = args[0] if args else kwargs["G"]
    if not served.beats_views and not (isinstance(graph, nx.Graph) and is_plain(graph)):
        # Checked first: a view counts its nodes one by one.
        return "views are converted edge by edge, which takes as long as networkx"
    n = len(graph)
    if n < served.min_nodes_converted:
        return "the graph is too small for a gain"
    arguments = served.arguments(args, kwargs)
    if isinstance(arguments, str):
        return arguments
    reason = served.refuses(arguments) if served.refuses is not None else None
    if reason is not None:
        return reason
    if served.nodes_read is not None and served.nodes_read(arguments) < _MIN_SHARE * n:
        return "networkx reads only a small part of the graph"
    parameter = served.signature.parameters.get("weight")
    weight = None if parameter is None else arguments.get("weight", parameter.default)
    if is_converted(graph, weight):
        return True
    if served.min_nodes is None:
        return "faster only on graphs that are already converted"
    if n < served.min_nodes:
        return "the graph is too small for a conversion to pay"
    return True


_ONE_SEEDED_PARTITION = (
    "expects the partition that networkx's own draws give for a seed; igraph's draws differ"
)
_LOUVAIN = "networkx.algorithms.community.tests.test_louvain"
EXPECTED_FAILURES = {
    f"{_LOUVAIN}::test_karate_club_partition": _ONE_SEEDED_PARTITION,
    f"{_LOUVAIN}::test_undirected_selfloops": _ONE_SEEDED_PARTITION,
    f"{_LOUVAIN}::test_none_weight_param": _ONE_SEEDED_PARTITION,
}
"""Tests of networkx that fail, by module and name, with the reason."""


def on_start_tests(items: list[Any]) -> None:
    """Prepare networkx's own test suite: mark :data:`EXPECTED_FAILURES`, draw small models too."""
    import pytest

    generators.Settings.min_nodes = 0
    for item in items:
        # Not item.nodeid, which starts at pytest's root folder.
        module = getattr(getattr(item, "module", None), "__name__", None)
        reason = EXPECTED_FAILURES.get(f"{module}::{item.name}")
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


backend_interface = SimpleNamespace(
    convert_from_nx=convert_from_nx,
    convert_to_nx=convert_to_nx,
    can_run=can_run,
    should_run=should_run,
    on_start_tests=on_start_tests,
    **{name: served.function for name, served in SERVED.items()},
)
