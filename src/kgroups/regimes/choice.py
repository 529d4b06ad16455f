"""The regimes as value objects, and the rule that chooses one."""

import math
from dataclasses import dataclass
from typing import TypeAlias

from kgroups.errors import InputError
from kgroups.spectrum import Moments

__all__ = [
    "EXACT_NODES",
    "Auto",
    "Exact",
    "FewGroups",
    "ManyGroups",
    "Regime",
    "affordable",
    "check_regime",
    "choice_by_moments",
    "disappointing",
    "resolution_of",
]

EXACT_NODES = 1_000
"""Components up to this size are solved exactly."""

_MOST_FEW = 64
_FEWEST_NODES = 200
_CLEAR = 1.6
_VERY_CLEAR = 2.0
_SHORTFALL = 0.07
_LARGEST_SHARE_INSIDE = 0.97


@dataclass(frozen=True)
class Exact:
    """Use the eigenvectors of N_r themselves: exact count, exact embedding."""


@dataclass(frozen=True)
class FewGroups:
    """Use a Chebyshev-filtered subspace: a few large communities, however faint."""


@dataclass(frozen=True)
class ManyGroups:
    """Move nodes at the resolution that the spectrum gives: many communities on large graphs."""


@dataclass(frozen=True)
class Auto:
    """Let kgroups choose the regime of each component.

    Components up to 1,000 nodes are solved exactly; from 500 on :class:`ManyGroups` is tried too,
    and taken where it finds no fewer communities and a better description. Beyond, Chebyshev
    moments say how many communities there are and how clear: none, and the component is one
    community; at most 64 faint ones (signal-to-noise ratio up to 1.6) of 200 nodes and more, and
    :class:`FewGroups` finds them, on graphs of more than 20,000 nodes at once; else
    :class:`ManyGroups`. Where that ends with a worse description than communities so clear should
    give (at most 64, ratio up to 2), or with none that a description could see, both are tried
    and the better description wins.
    """


Regime: TypeAlias = Auto | Exact | FewGroups | ManyGroups


def check_regime(regime: object) -> None:
    """Raise unless this is a regime."""
    if not isinstance(regime, Regime):
        msg = f"regime must be Auto(), Exact(), FewGroups() or ManyGroups(), got {regime!r}."
        raise InputError(msg)


def choice_by_moments(found: Moments, n: int) -> tuple[FewGroups | ManyGroups, str]:
    """Return the regime for a large component that is not one community, and why."""
    seen = (
        f"the moments of the spectrum show about {found.k:.0f} communities at a signal-to-noise "
        f"ratio of {found.s:.2f}"
    )
    if affordable(found.k, n) and found.s <= _CLEAR:
        return FewGroups(), seen
    return ManyGroups(), seen


def affordable(k: float, n: int) -> bool:
    """Tell if k eigenvectors can be had, and communities are large enough for them to show."""
    return k <= _MOST_FEW and n >= _FEWEST_NODES * k


def disappointing(nats: float, found: Moments, n: int, edges: float) -> bool:
    """Tell if a partition saves less than communities as clear as the moments say should.

    That is the gain of a planted partition with as many equal communities, less the cost of its
    labels. Only where eigenvectors can be had and may show more.
    """
    if not affordable(found.k, n) or found.s > _VERY_CLEAR:
        return False
    k = max(found.k_low, 2.0)
    inside, outside, kept = _planted_rates(k, found.s, 2.0 * edges / n)
    gain = kept * math.log(inside) + (1.0 - kept) * math.log(outside)
    predicted = edges * gain - n * math.log(k)
    return nats < predicted - _SHORTFALL * abs(predicted)


def resolution_of(k: float, s: float, degree: float) -> float:
    r"""Return the resolution at which modularity is the likelihood of the planted partition.

    .. math:: \gamma = \frac{\omega_{in} - \omega_{out}}{\ln \omega_{in} - \ln \omega_{out}},
        \quad \omega_{in} = x k + 1 - x, \quad \omega_{out} = 1 - x, \quad x = s / \sqrt{d}

    Examples
    --------
    >>> round(resolution_of(k=100, s=2.0, degree=16.0), 2)
    10.83
    """
    inside, outside, _ = _planted_rates(k, s, degree)
    return (inside - outside) / math.log(inside / outside)


def _planted_rates(k: float, s: float, degree: float) -> tuple[float, float, float]:
    """Return rates inside and between k equal groups, relative to the mean, and the share inside.

    A share s / sqrt(d) of the edges at a node stays in its group on top of what chance gives.
    """
    share = min(max(s, 1.0) / math.sqrt(max(degree, 1.0)), _LARGEST_SHARE_INSIDE)
    inside, outside = share * max(k, 2.0) + 1.0 - share, 1.0 - share
    return inside, outside, inside / max(k, 2.0)
