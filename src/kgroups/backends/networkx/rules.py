"""What calls a function must decline, because networkx's answer would be another one."""

from collections.abc import Mapping, Sized
from typing import Any

import networkx as nx

__all__ = [
    "DIRECTED",
    "Decision",
    "known_stream",
    "no_multigraph",
    "nodes_in_blocks",
    "nodes_in_set",
    "simple_undirected",
    "undirected",
]

NETWORKX_VERSION = tuple(int(part) for part in nx.__version__.split(".")[:2])

Decision = bool | str
"""True, or the reason in words: networkx writes it to its log."""


DIRECTED = (
    "on a directed graph networkx maximizes directed modularity, and the igraph code that runs "
    "here only that of undirected graphs. Leave out backend='kgroups' to let networkx run, or pass "
    "G.to_undirected(), which drops the directions; where both exist it keeps the weight of one "
    "and does not add them"
)
"""Why Louvain and Leiden leave directed graphs to networkx, and what to do."""


def no_multigraph(arguments: Mapping[str, Any]) -> str | None:
    """Decline multigraphs, whose parallel edges networkx counts as one here."""
    if arguments["G"].is_multigraph():
        return "networkx counts parallel edges as one"
    return None


def known_stream(arguments: Mapping[str, Any]) -> str | None:
    """Decline versions of networkx that may draw block models in another way."""
    if (3, 4) <= NETWORKX_VERSION < (3, 7):
        return None
    return f"networkx {nx.__version__} may draw another graph for the same seed"


def undirected(arguments: Mapping[str, Any]) -> str | None:
    """Leave directed graphs to networkx."""
    return DIRECTED if arguments["G"].is_directed() else None


def simple_undirected(arguments: Mapping[str, Any]) -> str | None:
    """Decline directed graphs and multigraphs, for which networkx raises an error."""
    G = arguments["G"]
    if G.is_directed() or G.is_multigraph():
        return "networkx defines it for undirected graphs without parallel edges only"
    return None


def nodes_in_set(arguments: Mapping[str, Any]) -> int:
    """Return how many nodes networkx would look at: those of the set S."""
    return len(arguments["S"]) if isinstance(arguments["S"], Sized) else 0


def nodes_in_blocks(arguments: Mapping[str, Any]) -> int:
    """Return how many nodes networkx would look at: those of the blocks."""
    blocks = arguments["partition"]
    if not isinstance(blocks, list | tuple | set | frozenset):
        return 0
    return sum(len(block) for block in blocks if isinstance(block, Sized))
