"""Brute force for verdicts: all graphs with given degrees, and the second eigenvalue of each."""

import numpy as np


def graphs_with_degrees(degrees):
    """Yield the adjacency matrix of every simple graph on labeled nodes with these degrees."""
    n = len(degrees)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    A = np.zeros((n, n))
    left = list(degrees)

    def extend(place):
        if place == len(pairs):
            if not any(left):
                yield A.copy()
            return
        i, j = pairs[place]
        # All pairs of the nodes before i have been decided.
        if i and left[i - 1]:
            return
        yield from extend(place + 1)
        if left[i] and left[j]:
            left[i], left[j] = left[i] - 1, left[j] - 1
            A[i, j] = A[j, i] = 1.0
            yield from extend(place + 1)
            left[i], left[j] = left[i] + 1, left[j] + 1
            A[i, j] = A[j, i] = 0.0

    yield from extend(0)


def second_eigenvalue(A):
    """Return the second eigenvalue of N_r at r = sqrt(rho(B)), with B as a dense matrix."""
    source, target = np.nonzero(A)
    follows = target[:, None] == source
    back = source[:, None] == target
    rho = np.abs(np.linalg.eigvals((follows & ~back).astype(float))).max()
    r = max(np.sqrt(rho), 1.001)
    scale = np.sqrt(r / (r * r - 1.0 + A.sum(axis=0)))
    return np.linalg.eigvalsh(scale[:, None] * A * scale)[-2]
