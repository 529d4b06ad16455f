"""Partitions: communities in the caller's node names, their tables, comparisons and files."""

from kgroups.partition.levels import Levels, Parents
from kgroups.partition.overview import Summary
from kgroups.partition.partition import Partition
from kgroups.partition.tables import Comparison

__all__ = ["Comparison", "Levels", "Parents", "Partition", "Summary"]
