"""Kernel k-groups: Hartigan moves on sparse and dense matrices and on embedding rows."""

from kgroups.hartigan.dense import Rows, Rule, StoredRows, group_links, improve_dense
from kgroups.hartigan.sweep import (
    SWEEPS_EXPECTED,
    Candidates,
    Groups,
    Improved,
    Outcome,
    best_kmeans,
    group_association,
    group_sums,
    group_totals,
    improve,
    improve_components,
    improve_rows,
)

__all__ = [
    "SWEEPS_EXPECTED",
    "Candidates",
    "Groups",
    "Improved",
    "Outcome",
    "Rows",
    "Rule",
    "StoredRows",
    "best_kmeans",
    "group_association",
    "group_links",
    "group_sums",
    "group_totals",
    "improve",
    "improve_components",
    "improve_dense",
    "improve_rows",
]
