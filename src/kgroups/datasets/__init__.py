"""Known networks: a few ship with the package, others are read from a folder of the user."""

from kgroups.datasets.catalogue import DatasetInfo, data_folders, describe, names
from kgroups.datasets.loading import Dataset, load

__all__ = ["Dataset", "DatasetInfo", "data_folders", "describe", "load", "names"]
