"""Graphs on disk: edges in blocks of rows, so that one block at a time is in memory."""

from kgroups.blocks.opening import open_graph
from kgroups.blocks.store import COLORS, Block, BlockInfo, NodeNames, StoredGraph

__all__ = ["COLORS", "Block", "BlockInfo", "NodeNames", "StoredGraph", "open_graph"]
