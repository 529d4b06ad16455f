"""Studies: many graphs, many methods, one table; resumable, sharded, on any number of cores."""

from kgroups.studies.methods import (
    METHODS,
    PAPER_GRAM,
    PAPER_UNIFORM,
    Points,
    TrialContext,
    oracle_inference,
    spectral_labels,
)
from kgroups.studies.plan import Task, trial_seed
from kgroups.studies.running import Journal
from kgroups.studies.sweeping import merge, phase_transition, sweep
from kgroups.studies.table import Study, check_table_name, plot_study

__all__ = [
    "METHODS",
    "PAPER_GRAM",
    "PAPER_UNIFORM",
    "Journal",
    "Points",
    "Study",
    "Task",
    "TrialContext",
    "check_table_name",
    "merge",
    "oracle_inference",
    "phase_transition",
    "plot_study",
    "spectral_labels",
    "sweep",
    "trial_seed",
]
