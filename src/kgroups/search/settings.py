"""The ways of finding communities, and the settings of the search, as value objects."""

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from kgroups._doors import check_count
from kgroups._types import Floats
from kgroups.errors import InputError
from kgroups.multilevel import Rules
from kgroups.multilevel.levels import ROUNDING

__all__ = [
    "SIGNIFICANCE",
    "Auto",
    "Exact",
    "FewGroups",
    "ManyGroups",
    "Plan",
    "Regime",
    "Search",
    "check_regime",
]

SIGNIFICANCE = math.log(10.0)
"""Nats that chance saves on at most one random graph in ten."""
# Gumbel-distributed numbers that annealing draws from; a power of two.
_NOISE = 1 << 14


class Plan(NamedTuple):
    """The settings of a search as arrays and numbers; see :class:`kgroups.Search`."""

    rules: Rules
    scales: Floats
    starts: int
    least_gain: float
    patience: int
    at_stake: float
    ambiguous: float
    retried: float
    treelike: float
    significance: float
    temperatures: Floats


@dataclass(frozen=True)
class Search:
    """Settings of the search for the partition with the shortest description.

    A start moves nodes from singletons at a resolution, and its groups, the *cells*, by what they
    save. The next start is joined to the best one so far through the intersection of both. Each
    setting has its experiment in ``python -m benchmarks.constants``.

    Parameters
    ----------
    scales : tuple of float
        Resolutions of the starts in turn, as exponents of n / mean degree: at 0 it is modularity,
        at 1 two nodes hardly join.
    starts : int
        Starts at most.
    least_gain : float
        Part of what is saved that a start must gain, and annealing too.
    patience : int
        Starts in a row that may gain less before the search ends.
    temperatures : tuple of float
        Temperatures of annealing, falling.
    doubt : float
        Nats that the best community of a node must be ahead for the node to be decided.
    at_stake : float
        One start is enough if undecided nodes, at ``doubt`` nats each, are worth no more than this
        part of what is saved, ...
    ambiguous : float
        ... if no larger share of the nodes is in communities that a merge would cost less than
        ``doubt`` nats, if at least one nat per node is saved, ...
    retried : float
        ... and if a second start gains less than ``least_gain``. It is made only in the largest
        communities, which hold this share of the nodes and at least 3,000 nodes; with 0 it is left
        out.
    treelike : float
        If cells have fewer links than this part beyond those of a tree, the graph is locally a
        tree: then starts go up all levels at their resolution, and are annealed.
    significance : float
        Nats that communities must save, else there is one. Chance saves ln 10 on at most one
        random graph in ten.
    max_visits : int
        Visits to each node before moves are given up.

    Examples
    --------
    >>> import kgroups as kg
    >>> thorough = kg.ManyGroups(kg.Search(starts=64, patience=8))
    """

    scales: tuple[float, ...] = (0.3, 0.5, 0.4, 0.2, 0.6)
    starts: int = 8
    least_gain: float = 0.003
    patience: int = 2
    temperatures: tuple[float, ...] = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    doubt: float = 6.0
    at_stake: float = 0.1
    ambiguous: float = 0.01
    retried: float = 0.05
    treelike: float = 0.1
    significance: float = SIGNIFICANCE
    max_visits: int = 10

    def __post_init__(self) -> None:
        check_count("starts", self.starts)
        check_count("max_visits", self.max_visits)
        check_count("patience", self.patience)
        if not self.scales:
            msg = "scales must hold at least one exponent, got an empty tuple."
            raise InputError(msg)
        for field in fields(self):
            values = getattr(self, field.name)
            for value in values if isinstance(values, tuple) else (values,):
                number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
                if not (number and 0.0 <= value < np.inf):
                    msg = f"{field.name} must be made of numbers >= 0, got {values!r}."
                    raise InputError(msg)

    def plan(self, rng: np.random.Generator) -> Plan:
        """Return the settings as the kernels take them."""
        noise = _noise(int(rng.integers(2**63)))
        rules = Rules(noise, float(self.doubt), int(self.max_visits), ROUNDING, keep=False)
        return Plan(
            rules,
            np.array(self.scales, dtype=float),
            int(self.starts),
            float(self.least_gain),
            int(self.patience),
            float(self.at_stake),
            float(self.ambiguous),
            float(self.retried),
            float(self.treelike),
            float(self.significance),
            np.array(self.temperatures, dtype=float),
        )


@lru_cache(maxsize=8)
def _noise(seed: int) -> Floats:
    # Kept: drawing it takes longer than the search of a small graph.
    return np.random.default_rng(seed).gumbel(size=_NOISE)


@dataclass(frozen=True)
class Exact:
    """Find communities by the eigenvectors of N_r alone: exact count, exact embedding."""


@dataclass(frozen=True)
class FewGroups:
    """Find communities by a Chebyshev-filtered subspace alone: a few large ones, however faint."""


@dataclass(frozen=True)
class ManyGroups:
    """Find communities by the search alone: the partition with the shortest description.

    Parameters
    ----------
    search : Search
        Its settings.
    """

    search: Search = Search()


@dataclass(frozen=True)
class Auto:
    """Let candidates compete in each component.

    The search proposes the partition with the shortest description. Where that saves a nat per
    node or more it is taken. Elsewhere structure is faint: the eigenvectors of N_r propose too,
    and belief propagation from the labels of each candidate decides between them and one
    community.

    Parameters
    ----------
    search : Search
        Settings of the search.
    """

    search: Search = Search()


Regime: TypeAlias = Auto | Exact | FewGroups | ManyGroups


def check_regime(regime: object) -> None:
    """Raise unless this is a regime."""
    if not isinstance(regime, Regime):
        msg = f"regime must be Auto(), Exact(), FewGroups() or ManyGroups(), got {regime!r}."
        raise InputError(msg)
    if isinstance(regime, Auto | ManyGroups) and not isinstance(regime.search, Search):
        msg = f"search must be Search(), got {regime.search!r}."
        raise InputError(msg)
