"""Known networks and tables: a few ship with kgroups, the others are read from local folders."""

from kgroups.datasets.catalog import (
    DatasetInfo,
    TableInfo,
    data_folders,
    describe,
    describe_tables,
    names,
    table_names,
)
from kgroups.datasets.loading import Dataset, Table, load, load_table

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
