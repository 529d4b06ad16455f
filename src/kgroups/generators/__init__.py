"""Random graphs with planted groups, and random graphs with given degrees."""

from kgroups.generators.blocks import (
    PlantedAffinity,
    girvan_newman_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.degree_corrected import PowerLaw, degree_corrected_sbm
from kgroups.generators.lfr import lfr_benchmark
from kgroups.generators.planted import Planted
from kgroups.generators.rewiring import Rewired, configuration_model

__all__ = [
    "Planted",
    "PlantedAffinity",
    "PowerLaw",
    "Rewired",
    "configuration_model",
    "degree_corrected_sbm",
    "girvan_newman_benchmark",
    "lfr_benchmark",
    "planted_partition",
    "stochastic_block_model",
]
