"""Moves on the planted-partition likelihood."""

import math

import numpy as np

from kgroups._progress import new_control
from kgroups._types import Ints
from kgroups.hartigan.refine import ROUNDING, PlantedFit, fit_of_sums
from kgroups.search._climbing_nb import ROUNDING as ROUNDING_OF_GAINS
from kgroups.search.climbing import MoveRules, climb
from kgroups.search.levels import Level
from kgroups.search.objective import Objective, totals

# Nats that a likelihood move must gain; a node closer to a tie keeps its label.
_MARGIN_NATS = 0.5
# Rates and labels are improved in turn at most this often.
_MAX_ROUNDS = 5
# Visits to each node in a round before its moves end.
_MAX_VISITS = 20
# Keeps the rate between groups positive when no edge is cut.
_LEAST_RATE = 1e-3


def planted_fits(level: Level, z: Ints, k: Ints, which: Ints) -> list[PlantedFit]:
    """Fit the rates of the groups of some components, each by itself."""
    sums = totals(level, z.astype(np.int32, copy=False), k, which).sums[which].tolist()
    entries = level.entries[which].tolist()
    return [fit_of_sums(number, *own) for number, own in zip(entries, sums, strict=True)]


def likelihood_moves(level: Level, z: Ints, k: Ints, which: Ints) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    parts, none = k.size, np.zeros(0)
    total, penalty, margin = (np.zeros(parts) for _ in range(3))
    total[which] = [level.strength[level.rows(c)].sum() for c in which.tolist()]
    objective = Objective(0.5 * total, none, none, level.offsets, none)
    rules = MoveRules(np.zeros(1), 0.0, _MAX_VISITS, keep=True)
    best = dict(zip(which.tolist(), planted_fits(level, z, k, which), strict=True))
    labels = z.astype(np.int32)
    for _ in range(_MAX_ROUNDS):
        for c, fit in list(best.items()):
            between = max(fit.between, _LEAST_RATE)
            if fit.inside <= between:
                del best[c]
                continue
            per_edge = math.log(fit.inside / between)
            penalty[c] = (fit.inside - between) / per_edge / total[c]
            margin[c] = _MARGIN_NATS / per_edge * total[c] / level.entries[c] + ROUNDING_OF_GAINS
        active = np.array(list(best), dtype=np.int64)
        if not active.size:
            break
        arguments = level, objective, labels, active, rules, new_control()
        moved = climb(*arguments, penalty=penalty, margin=margin, levels=1).z
        for c, fit in zip(active.tolist(), planted_fits(level, moved, k, active), strict=True):
            if fit.gain > best[c].gain * (1.0 + ROUNDING):
                best[c], rows = fit, level.rows(c)
                labels[rows] = moved[rows]
            else:
                del best[c]
    return labels.astype(np.int64)
