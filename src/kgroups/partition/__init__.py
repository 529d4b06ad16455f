"""Partitions: communities in the caller's node names, and their files."""

from kgroups.partition.partition import Partition

__all__ = ["Partition"]
