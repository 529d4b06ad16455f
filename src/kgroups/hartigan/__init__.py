"""Kernel k-groups: Hartigan moves on sparse and dense matrices and on embedding rows."""

from kgroups.hartigan.dense import Rows, Rule, StoredRows, group_links, improve_dense
from kgroups.hartigan.sweep import (
    BACKGROUND_ENTRIES,
    BACKGROUND_WORK,
    ROW_ERROR,
    Candidates,
    Groups,
    Outcome,
    group_association,
    group_sums,
    group_totals,
    improve,
    improve_rows,
)

__all__ = [
    "BACKGROUND_ENTRIES",
    "BACKGROUND_WORK",
    "ROW_ERROR",
    "Candidates",
    "Groups",
    "Outcome",
    "Rows",
    "Rule",
    "StoredRows",
    "group_association",
    "group_links",
    "group_sums",
    "group_totals",
    "improve",
    "improve_dense",
    "improve_rows",
]
