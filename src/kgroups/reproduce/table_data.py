"""The paper's tables as its experiments use them: which rows, and on which scale."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups import datasets
from kgroups._types import Floats, Ints
from kgroups.datasets import Table
from kgroups.datasets.catalogue import table_info

__all__ = ["UCI_TABLES", "Sample", "UciTable", "dermatology_rows", "filled", "standardized"]

Scale: TypeAlias = Literal["z", "raw"]
Rows: TypeAlias = Literal["all", "2000", "200 per class"]
Missing: TypeAlias = Literal["mean", "drop"]

_SUBSAMPLE, _PER_CLASS = 2_000, 200


class Sample(NamedTuple):
    """Rows to cluster, the class of each in ``range(k)``, and the number of classes."""

    X: Floats
    truth: Ints
    k: int


@dataclass(frozen=True)
class UciTable:
    """How the paper uses a table.

    Attributes
    ----------
    title : str
        The paper's name for it.
    name : str or None
        The name that :func:`kgroups.datasets.load_table` takes, if there is a copy.
    scale : {"z", "raw"}
        Columns of mean 0 and standard deviation 1, or as they are.
    rows : {"all", "2000", "200 per class"}
        All rows in random order, or some of them drawn with replacement.
    """

    title: str
    name: str | None
    scale: Scale
    rows: Rows = "all"

    @property
    def present(self) -> bool:
        """Whether its file is on this machine."""
        return any(info.name == self.name and info.present for info in datasets.describe_tables())

    @property
    def shape(self) -> str | None:
        """Number of rows used, of classes and of columns."""
        if self.name is None:
            return None
        info = table_info(self.name)
        rows = {"all": info.rows, "2000": _SUBSAMPLE, "200 per class": _PER_CLASS * info.classes}
        return f"{rows[self.rows]}/{info.classes}/{info.columns}"

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return the rows in an order, or the subsample, that ``rng`` draws."""
        assert self.name is not None
        table = _loaded(self.name)
        names, truth = np.unique(table.labels, return_inverse=True)
        picks = _picked(self.rows, truth, rng)
        X = table.X[picks]
        return Sample(standardized(X) if self.scale == "z" else X, truth[picks], names.size)


UCI_TABLES = (
    UciTable("libras movement", "libras", "z"),
    UciTable("vehicle", "vehicle", "raw"),
    UciTable("forest", "forest_type", "z"),
    UciTable("covertype", "covertype15120", "z", "200 per class"),
    UciTable("segmentation", "segmentation", "z"),
    UciTable("wine", "wine", "z"),
    UciTable("synthetic control", "synthetic_control", "z"),
    UciTable("fertility", "fertility", "raw"),
    UciTable("glass", "glass", "raw"),
    UciTable("ionosphere", "ionosphere", "raw"),
    UciTable("epileptic", "epileptic", "z", "2000"),
    UciTable("anuran", "anuran", "z", "2000"),
    UciTable("gene expression", None, "z"),
    UciTable("pendigits", "pendigits", "z", "2000"),
    UciTable("seeds", "seeds", "z"),
    UciTable("spect heart", "spect_heart", "raw"),
    UciTable("iris", "iris", "raw"),
    UciTable("contraceptive", "contraceptive", "z"),
)
"""The lines of the paper's table. The paper does not tell the scales; others do not fit."""


@lru_cache(maxsize=1)
def _loaded(name: str) -> Table:
    """Return a table that several draws in a row are made from."""
    return datasets.load_table(name)


def dermatology_rows(missing: Missing) -> Sample:
    """Return dermatology on the scale z; mean ages stand for missing ones, or their rows drop."""
    table = datasets.load_table("dermatology")
    names, truth = np.unique(table.labels, return_inverse=True)
    if missing == "mean":
        return Sample(standardized(filled(table.X)), truth, names.size)
    complete = ~np.isnan(table.X).any(axis=1)
    return Sample(standardized(table.X[complete]), truth[complete], names.size)


def filled(X: Floats) -> Floats:
    """Return a table in which the mean of its column stands for a missing cell."""
    whole: Floats = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return whole


def standardized(X: Floats) -> Floats:
    """Return columns of mean 0 and standard deviation 1; a constant column becomes 0."""
    centred = X - X.mean(axis=0)
    sd = X.std(axis=0)
    # The mean of equal numbers may be off by a rounding error, which must not be scaled up.
    constant = np.ptp(X, axis=0) == 0.0
    centred[:, constant] = 0.0
    scaled: Floats = centred / np.where(constant, 1.0, sd)
    return scaled


def _picked(rows: Rows, truth: Ints, rng: np.random.Generator) -> Ints:
    if rows == "2000":
        return rng.integers(truth.size, size=_SUBSAMPLE)
    if rows == "200 per class":
        members = [np.flatnonzero(truth == a) for a in range(int(truth.max()) + 1)]
        drawn = np.concatenate([rng.choice(each, size=_PER_CLASS) for each in members])
        return rng.permutation(drawn)
    return rng.permutation(truth.size)
