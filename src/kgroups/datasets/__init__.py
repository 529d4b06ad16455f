"""Known networks and tables: a few networks ship, the rest is read from a folder of the user."""

from kgroups.datasets.catalogue import (
    DatasetInfo,
    TableInfo,
    data_folders,
    describe,
    describe_tables,
    names,
    table_names,
)
from kgroups.datasets.loading import Dataset, load
from kgroups.datasets.tables import Table, load_table

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Table",
    "TableInfo",
    "data_folders",
    "describe",
    "describe_tables",
    "load",
    "load_table",
    "names",
    "table_names",
]
