"""The Hartigan core: one move at a time, never downhill."""

from kgroups.hartigan.dense import Rows, Rule, StoredRows, group_links, improve_dense
from kgroups.hartigan.objective import group_association, group_totals
from kgroups.hartigan.sweep import Outcome, improve, improve_rows

__all__ = [
    "Outcome",
    "Rows",
    "Rule",
    "StoredRows",
    "group_association",
    "group_links",
    "group_totals",
    "improve",
    "improve_dense",
    "improve_rows",
]
