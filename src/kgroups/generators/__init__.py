"""Random graphs with planted groups, and graphs with nothing but given degrees."""

from kgroups.generators.affinity import PlantedAffinity
from kgroups.generators.blocks import (
    girvan_newman_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.dcsbm import degree_corrected_sbm
from kgroups.generators.lfr import lfr_benchmark
from kgroups.generators.null import Rewired, configuration_model
from kgroups.generators.planted import Planted
from kgroups.generators.propensity import PowerLaw

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
