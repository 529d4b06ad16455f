"""Graphs on disk: edges in blocks of rows, so that one block at a time is in memory."""

from kgroups.blocks.arguments import check_arguments, check_engine
from kgroups.blocks.cluster import Dask
from kgroups.blocks.detection import detect_stored
from kgroups.blocks.engines import Engine, OutOfCore
from kgroups.blocks.opening import open_graph
from kgroups.blocks.output import check_table
from kgroups.blocks.result import StoredPartition
from kgroups.blocks.sources import source_files
from kgroups.blocks.store import COLORS, Block, BlockInfo, NodeNames, StoredGraph, memory_bytes

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
    "check_arguments",
    "check_engine",
    "check_table",
    "detect_stored",
    "memory_bytes",
    "open_graph",
    "source_files",
]
