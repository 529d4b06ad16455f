"""The Hartigan core: one move at a time, never downhill."""

from kgroups.hartigan.objective import group_association, group_totals
from kgroups.hartigan.sweep import Outcome, improve, improve_rows

__all__ = ["Outcome", "group_association", "group_totals", "improve", "improve_rows"]
