"""Random graphs with planted groups, and random graphs with given degrees."""

from kgroups.generators.blocks import (
    PlantedAffinity,
    PowerLaw,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.lfr import lfr_benchmark
from kgroups.generators.planted import Planted
from kgroups.generators.rewiring import configuration_model

__all__ = [
    "Planted",
    "PlantedAffinity",
    "PowerLaw",
    "configuration_model",
    "degree_corrected_sbm",
    "girvan_newman_benchmark",
    "lfr_benchmark",
    "planted_partition",
    "stochastic_block_model",
]
