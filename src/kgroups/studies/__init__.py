"""Studies: many graphs, many methods, one table; resumable, sharded, on any number of cores."""

from kgroups.studies.merging import merge
from kgroups.studies.methods import METHODS
from kgroups.studies.sweeping import phase_transition, sweep
from kgroups.studies.table import Study

__all__ = ["METHODS", "Study", "merge", "phase_transition", "sweep"]
