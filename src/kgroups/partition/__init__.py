"""Partitions: communities in the caller's node names, their tables, comparisons and files."""

from kgroups.partition.levels import Levels, Parents
from kgroups.partition.partition import Partition
from kgroups.partition.tables import Comparison, Summary

__all__ = ["Comparison", "Levels", "Parents", "Partition", "Summary"]
