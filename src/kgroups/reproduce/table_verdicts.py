"""Whether means on tables agree with the paper's, and which claims follow."""

import math
from collections.abc import Iterator, Mapping, Sequence

from kgroups.reproduce.findings import Claim, Measured
from kgroups.reproduce.table_paper import DEGENERATE, REASONS, UCI, Scores
from kgroups.reproduce.table_runs import Spread

__all__ = [
    "COMPARED",
    "in_short",
    "ranking_claims",
    "run_verdict",
    "table_verdict",
    "within_claims",
]

COMPARED = {
    "groups": "k-groups",
    "printed": "kernel k-means, printed",
    "spectral": "spectral",
}
"""Columns of the paper and the methods that are held against them."""

_REPRODUCED = "reproduced"
_ROUNDING = 0.0005
# With fewer starts their spread is not known well enough.
_ENOUGH = 10


def table_verdict(found: Spread, title: str, column: str) -> str:
    """Return whether a mean agrees with the paper's, and if not, why it need not."""
    paper, other = UCI[title]
    if (title, column) in DEGENERATE:
        return f"no target ({DEGENERATE[title, column]})"
    if found.starts < _ENOUGH:
        return "too few starts to tell"
    # The paper has its own noise: as many starts on a single draw.
    room = 2.0 * math.hypot(found.ours.se, found.one_draw) + _ROUNDING
    ours, printed = found.ours.mean, getattr(paper, column)
    if abs(ours - printed) <= room:
        return _REPRODUCED
    side = "above" if ours > printed else "below"
    if (title, column) in REASONS:
        return f"{side} ({REASONS[title, column]})"
    agrees = other is not None and abs(ours - getattr(other, column)) <= room
    return f"{side}, like another implementation" if agrees else side


def in_short(verdicts: Mapping[str, str]) -> str:
    """Return one verdict on several methods, or say which have which.

    Examples
    --------
    >>> in_short({"k-groups": "reproduced", "spectral": "reproduced"})
    'reproduced'
    >>> in_short({"k-groups": "above", "kernel k-means": "above", "spectral": "reproduced"})
    'k-groups and kernel k-means above; spectral reproduced'
    """
    alike: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        alike.setdefault(verdict, []).append(name)
    if len(alike) == 1:
        return next(iter(alike))
    return "; ".join(f"{' and '.join(names)} {verdict}" for verdict, names in alike.items())


def within_claims(
    verdicts: Mapping[tuple[str, str], str], titles: Sequence[str]
) -> Iterator[Claim]:
    """Yield for each method the claim that its means are the paper's."""
    for column, method in COMPARED.items():
        aims = [title for title in titles if (title, column) not in DEGENERATE]
        off = [title for title in aims if verdicts[title, column] != _REPRODUCED]
        unexplained = [title for title in off if (title, column) not in REASONS]
        seen = [f"{len(aims) - len(off)} of {len(aims)}"]
        seen += [f"{title} {verdicts[title, column]}" for title in off]
        yield Claim(
            f"{method} is within 2 s.e. of the paper wherever that can be expected",
            bool(aims) and not unexplained,
            "; ".join(seen),
        )


def ranking_claims(
    means: Mapping[tuple[str, str], float],
    objectives: Mapping[tuple[str, str], float],
    titles: Sequence[str],
) -> Iterator[Claim]:
    """Yield the claims that k-groups is ahead of kernel k-means with the exact update."""
    for values, what, least in (
        (means, "mean NMI of k-groups is at least that of kernel k-means on most tables", 0.5),
        (objectives, "its mean objective is larger on every table", 1.0),
    ):
        behind = [t for t in titles if values[t, "k-groups"] < values[t, "kernel k-means"]]
        ahead = len(titles) - len(behind)
        seen = f"{ahead} of {len(titles)}" + (f"; not {', '.join(behind)}" if behind else "")
        yield Claim(what, bool(titles) and ahead >= least * len(titles), seen)


def run_verdict(found: Sequence[Measured], spreads: Sequence[float], paper: Scores) -> str:
    """Return whether single runs scatter around the paper's, which is one of them."""
    if any(math.isnan(sd) for sd in spreads):
        return "one run is no mean"
    off = [
        "above" if ours.mean > printed else "below"
        for ours, sd, printed in zip(found, spreads, paper, strict=True)
        if abs(ours.mean - printed) > 2.0 * math.hypot(ours.se, sd) + _ROUNDING
    ]
    return off[0] if off else _REPRODUCED
