"""Graphs on disk: edges in blocks of rows, so that one block at a time is in memory."""

from kgroups.blocks.cluster import Dask
from kgroups.blocks.detection import detect_stored
from kgroups.blocks.engines import Engine, OutOfCore
from kgroups.blocks.opening import open_graph
from kgroups.blocks.result import StoredPartition
from kgroups.blocks.store import COLORS, Block, BlockInfo, NodeNames, StoredGraph

__all__ = [
    "COLORS",
    "Block",
    "BlockInfo",
    "Dask",
    "Engine",
    "NodeNames",
    "OutOfCore",
    "StoredGraph",
    "StoredPartition",
    "detect_stored",
    "open_graph",
]
