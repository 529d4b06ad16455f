"""Candidates of all faint components at once: eigenvectors, labels from them, and their scores."""

from math import inf, log, nan, sqrt
from typing import cast

import numpy as np
from numba import njit

from kgroups._components_nb import connect_groups
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.description._code_nb import code_of, nats_saved_nb
from kgroups.embedding import EQUAL
from kgroups.embedding._first_labels_nb import first_labels
from kgroups.hartigan import Groups
from kgroups.hartigan._sweep_nb import add_totals, improve_labels
from kgroups.inference._propagation_nb import evidence_of_labels
from kgroups.multilevel import Level
from kgroups.multilevel._levels_nb import block_level, block_pattern
from kgroups.multilevel._moving_nb import group_totals, weight_mask
from kgroups.refine._likelihood_nb import guarded
from kgroups.search.problem import Pieces
from kgroups.search.settings import SIGNIFICANCE

__all__ = ["SWEEPS", "communities_by_vectors", "judge_components", "leading_vectors"]

SWEEPS = cast(int, np.int64(50))
"""Sweeps of belief propagation from the labels of a candidate, at most."""
# Mean change of a marginal at which it ends, and share of each first message that is spread over
# all groups.
_TOLERANCE, _SOFTNESS = 1e-3, 0.1


@njit(cache=True, nogil=True, error_model="numpy")
def _block(pieces: Pieces, first: int, last: int) -> Pieces:
    """Return the arrays of a component, with a number for each entry."""
    A = pieces.A
    indptr, indices = block_pattern(A, first, last)
    low, high = A.indptr[first], A.indptr[last]
    if weight_mask(A) == 0:
        data, coupling = np.full(high - low, A.data[0]), np.full(high - low, pieces.coupling[0])
    else:
        data, coupling = A.data[low:high].copy(), pieces.coupling[low:high].copy()
    strength, diagonal = pieces.strength[first:last].copy(), pieces.diagonal[first:last].copy()
    return Pieces(CSR(indptr, indices, data), strength, coupling, diagonal)


@njit(cache=True, nogil=True, error_model="numpy")
def leading_vectors(
    pieces: Pieces,
    offsets: Ints,
    which: Ints,
    columns: Ints,
    begin: Ints,
    small: Bools,
    tally: Ints,
) -> tuple[Floats, Bools]:
    """Return leading eigenvectors of N_r of some components, and where eigenvalues are equal.

    Those of component ``which[p]`` are ``columns[p]`` columns, whose rows lie one after another
    from ``begin[p]`` on; they are computed if the component is ``small``.
    """
    vectors, tied = np.zeros(begin[-1]), np.zeros(which.size, np.bool_)
    for p in range(which.size):
        if tally[2] != 0:
            break
        if not small[p]:
            continue
        first, last = offsets[which[p]], offsets[which[p] + 1]
        part, n, count = _block(pieces, first, last), last - first, columns[p]
        A, N = part.A, np.zeros((n, n))
        for i in range(n):
            for t in range(A.indptr[i], A.indptr[i + 1]):
                j = A.indices[t]
                N[i, j] = part.coupling[t] / sqrt(part.diagonal[i]) / sqrt(part.diagonal[j])
        values, V = np.linalg.eigh(N)
        for c in range(count):
            at = n - 1 - c
            if at > 0 and values[at - 1] >= values[at] - EQUAL:
                tied[p] = True
            for i in range(n):
                vectors[begin[p] + i * count + c] = V[i, at]
    return vectors, tied


@njit(cache=True, nogil=True, error_model="numpy")
def communities_by_vectors(
    pieces: Pieces,
    offsets: Ints,
    which: Ints,
    k: Ints,
    vectors: Floats,
    begin: Ints,
    columns: Ints,
    draws: Floats,
    drawn: Ints,
    drawn_end: Ints,
    starts: int,
    max_work: float,
    all_groups: bool,
    margin: float,
    max_sweeps: int,
    guard: float,
    tally: Ints,
) -> tuple[Ints, Ints]:
    """Return connected communities of some components by their eigenvectors, and their refinement.

    Component ``which[p]`` gets ``k[p]`` communities by k-means, whose random numbers are those
    from ``drawn[p]`` to ``drawn_end[p]``, and kernel k-groups with a ``guard``, which is below 0
    for none. Labels start from 0 in each component. The refinement of each is a row: number of the
    name of the labels that were kept, sweeps, moves, matrix entries read, and 1 if it converged.
    """
    labels, done = np.zeros(offsets[-1], np.int64), np.zeros((which.size, 5), np.int64)
    for p in range(which.size):
        if tally[2] != 0:
            break
        first, last, count = offsets[which[p]], offsets[which[p] + 1], k[p]
        part, n = _block(pieces, first, last), last - first
        rows = vectors[begin[p] : begin[p] + n * columns[p]].reshape((n, columns[p]))
        width = (drawn_end[p] - drawn[p]) // starts
        table = draws[drawn[p] : drawn_end[p]].reshape((starts, width))
        start = first_labels(part.A, rows[:, :count].copy(), table, max_work, tally)
        M = CSR(part.A.indptr, part.A.indices, part.coupling)
        diagonal = -part.diagonal
        for i in range(n):
            for t in range(M.indptr[i], M.indptr[i + 1]):
                if M.indices[t] == i:
                    diagonal[i] += M.data[t]
        z, sizes = start.copy(), np.zeros(count, np.int64)
        groups = Groups(np.zeros(count), np.zeros(count), sizes)
        add_totals(M, diagonal, part.diagonal, z, groups.s, groups.Q)
        for a in z:
            sizes[a] += 1
        sweeps, moves, converged = improve_labels(
            M, diagonal, part.diagonal, all_groups, margin, max_sweeps, z, groups, tally
        )
        kept = 0
        if guard >= 0.0:
            z, kept = guarded(
                part.A, part.strength, start, z, count, guard, fast=False, tally=tally
            )
        done[p, 0], done[p, 1], done[p, 2] = kept, sweeps, moves
        done[p, 3], done[p, 4] = sweeps * M.indices.size, int(converged)
        connect_groups(M.indptr, M.indices, part.A.data, z, count, tally)
        labels[first:last] = z
    return labels, done


@njit(cache=True, nogil=True, error_model="numpy")
def _saturation(level: Level, z: Ints, k: int, tally: Ints) -> float:
    """Return the nats that a binomial code saves beyond a Poisson one."""
    E, _, N = group_totals(level, z.astype(np.int32), k, tally)
    n, m = level.strength.size, 0.5 * level.strength.sum()
    outside, others, saved = m, 0.5 * n * (n - 1.0), 0.0
    saved -= _binomial_excess(m, others)
    for a in range(k):
        pairs = 0.5 * N[a] * (N[a] - 1.0)
        saved += _binomial_excess(E[a], pairs)
        outside, others = outside - E[a], others - pairs
    return saved + _binomial_excess(outside, others)


@njit(cache=True, nogil=True, error_model="numpy")
def _binomial_excess(E: float, pairs: float) -> float:
    empty = pairs - E
    return E + (empty * log(empty / max(pairs, 1.0)) if empty > 0.0 else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def judge_components(
    level: Level,
    offsets: Ints,
    which: Ints,
    k: Ints,
    z: Ints,
    dense: Bools,
    own_rates: bool,
    needed: float,
    max_messages: float,
    tally: Ints,
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the labels that belief propagation reaches in some components, and their scores.

    Communities are made connected. ``z`` has ``k[p]`` groups in component ``which[p]``, of one
    density, or each of its own with ``own_rates``. Where ``dense``, pairs count as linked once at
    most. Evidence that does not exceed ``needed`` makes the score -inf. Components with more than
    ``max_messages`` messages keep their labels, and are scored by their description.

    Returns labels, and for each component their number, the score, and the nats saved by belief
    propagation before the cost of parameters, NaN where it was not run.
    """
    labels, counts = z.copy(), k.copy()
    score, evidence = np.zeros(which.size), np.full(which.size, nan)
    for p in range(which.size):
        if tally[2] != 0:
            break
        first, last = offsets[which[p]], offsets[which[p] + 1]
        part, own = block_level(level, first, last), z[first:last].copy()
        if float(part.A.indices.size) * k[p] > max_messages:
            # On so large a graph the moments of the spectrum have already shown structure.
            nats = nats_saved_nb(part, own.astype(np.int32), k[p], code_of(part), tally)
            score[p] = max(nats, SIGNIFICANCE)
        else:
            found = evidence_of_labels(
                part, own, k[p], own_rates, SWEEPS, _TOLERANCE, _SOFTNESS, tally
            )
            extra = _saturation(part, found.z, found.k, tally) if dense[p] else 0.0
            own, counts[p] = found.z, found.k
            evidence[p] = found.evidence + extra
            score[p] = found.score + extra if evidence[p] > needed else -inf
        connect_groups(part.A.indptr, part.A.indices, part.A.data, own, counts[p], tally)
        labels[first:last] = own
    return labels, counts, score, evidence
