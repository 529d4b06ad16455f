"""The options of a detection, and what it finds."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Ints
from kgroups.hartigan import Hartigan, Init, KMeansInit, Refinement, Refiner
from kgroups.report import ComponentReport, RefinementReport
from kgroups.search.continuum import Borders
from kgroups.search.settings import Method, Search, Spectral, search_of, spectral_of
from kgroups.spectrum import ComponentCounts


class Options(NamedTuple):
    """The options of the caller."""

    method: Method
    init: Init
    refine: Refiner | None
    progress: Callable[[str], None]

    @property
    def chosen(self) -> bool:
        """Whether the caller has chosen how eigenvectors become labels."""
        return self.init != KMeansInit() or self.refine != Hartigan()

    @property
    def search(self) -> Search | None:
        """Settings of the search, None if there is none."""
        return search_of(self.method)

    @property
    def spectral(self) -> Spectral:
        """How eigenvectors are computed."""
        return spectral_of(self.method)


@dataclass(eq=False)
class RefinementTotals:
    """Sums over all refinements of a detection."""

    components: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    models: Counter[str] = field(default_factory=Counter)

    def add(self, one: Refinement) -> None:
        """Count one refinement."""
        self.components += 1
        self.kept[one.kept] += 1
        self.sweeps += one.sweeps
        self.moves += one.moves
        self.visits += one.visits
        self.converged &= one.converged
        if one.model:
            self.models[one.model] += 1

    def report(self, method: str) -> RefinementReport:
        """Return the totals of a method as the report shows them."""
        return RefinementReport(
            method,
            self.components,
            dict(self.kept),
            self.sweeps,
            self.moves,
            self.visits,
            self.converged,
            dict(self.models),
        )


@dataclass(eq=False)
class Detection:
    """Labels in the order of the problem, and how they were found.

    ``counts`` are the eigenvalues above the threshold, if all components were counted. The
    ``dispersion`` is what the evidence of edges was divided by. Communities are ``clear`` in
    components in which they save a nat per node if edges count in full.
    """

    z: Ints
    uninformed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    refinements: RefinementTotals = field(default_factory=RefinementTotals)
    components: list[ComponentReport] = field(default_factory=list)
    visits: int = 0
    counts: ComponentCounts | None = None
    dispersion: float = 1.0
    clear: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    borders: Borders | None = None

    def keep(self, refinement: Refinement) -> Ints:
        """Record a refinement, and return its labels."""
        self.refinements.add(refinement)
        return refinement.z

    def assign_uninformed(self) -> None:
        """Give the nodes without a label, which are -1, to the largest community."""
        self.uninformed = np.flatnonzero(self.z < 0)
        if self.uninformed.size:
            self.z[self.uninformed] = int(np.argmax(np.bincount(self.z[self.z >= 0])))
