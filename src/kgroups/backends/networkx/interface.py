"""The functions that this backend serves, and the rules when it does."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import networkx as nx

from kgroups.backends.networkx import communities, linalg
from kgroups.backends.networkx.graph import (
    DIRECTED,
    ConvertedGraph,
    convert_from_nx,
    convert_to_nx,
    is_read_from_dicts,
)

NETWORKX_VERSION = tuple(int(part) for part in nx.__version__.split(".")[:2])

Decision = bool | str
"""True, or the reason why not: networkx writes it to its log."""


@dataclass(frozen=True)
class Served:
    """A function under networkx's name, and when networkx should call it.

    Attributes
    ----------
    function : callable
        Takes what networkx's function takes, with the same defaults.
    min_nodes : int
        Number of nodes from which conversion and call together beat networkx, as
        ``benchmarks/backend.py`` shows.
    beats_views : bool
        Whether it wins on views and multigraphs too, which are converted edge by edge.
    """

    function: Callable[..., Any]
    min_nodes: int
    beats_views: bool = False
    positional: tuple[str, ...] = field(init=False, repr=False)
    parameters: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.function).parameters.values()
        positional = (p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
        object.__setattr__(self, "positional", tuple(positional))
        object.__setattr__(self, "parameters", frozenset(p.name for p in parameters))


_OLD_LEIDEN = (communities.leiden_communities, communities.leiden_partitions)
_NEW_LEIDEN = (communities.leiden_communities_by_metric, communities.leiden_partitions_by_metric)

_ALL = (
    Served(linalg.to_scipy_sparse_array, 150),
    Served(communities.modularity, 200),
    Served(communities.partition_quality, 200),
    Served(communities.intra_community_edges, 200),
    Served(communities.inter_community_edges, 50),
    Served(communities.inter_community_non_edges, 50),
    Served(linalg.bethe_hessian_matrix, 150),
    Served(linalg.bethe_hessian_spectrum, 150),
    *(
        Served(function, 20, beats_views=True)
        for function in (_OLD_LEIDEN if NETWORKX_VERSION < (3, 7) else _NEW_LEIDEN)
    ),
    Served(communities.louvain_communities, 20, beats_views=True),
    Served(communities.louvain_partitions, 20, beats_views=True),
)
SERVED = {served.function.__name__.removesuffix("_by_metric"): served for served in _ALL}


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Return True if a function takes these arguments, or the reason why it does not."""
    served = SERVED[name]
    # Much faster than Signature.bind, and called before each call of networkx.
    if len(args) > len(served.positional):
        return f"at most {len(served.positional)} arguments by position, got {len(args)}"
    for given in kwargs:
        if given not in served.parameters or given in served.positional[: len(args)]:
            return f"unexpected keyword argument {given!r}"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Decision:
    """Return True if a call with its conversion is faster here, or the reason why it is not."""
    served = SERVED[name]
    graph = args[0] if args else kwargs["G"]
    if graph.is_directed():
        return DIRECTED
    if isinstance(graph, ConvertedGraph):
        return True
    if not (served.beats_views or is_read_from_dicts(graph)):
        # Checked first: a view counts its nodes one by one.
        return "views and multigraphs are converted edge by edge, which takes as long as networkx"
    if len(graph) < served.min_nodes:
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
    """Mark :data:`EXPECTED_FAILURES` in networkx's own test suite."""
    import pytest

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
