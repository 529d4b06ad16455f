"""Random graphs with planted groups, and graphs with nothing but given degrees."""

from kgroups.generators.affinity import PlantedAffinity
from kgroups.generators.blocks import (
    girvan_newman_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.planted import Planted

__all__ = [
    "Planted",
    "PlantedAffinity",
    "girvan_newman_benchmark",
    "planted_partition",
    "stochastic_block_model",
]
