"""Pictures: a graph with its communities, and the spectrum that counts them."""

from kgroups.plotting.network import plot_partition
from kgroups.plotting.spectrum import plot_spectrum

__all__ = ["plot_partition", "plot_spectrum"]
