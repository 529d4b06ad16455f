"""Slow twins of the Hartigan core: dense matrices, every total from scratch."""

import numpy as np


def association(M, w, z, k):
    """Return tr(Y^T M Y) with Y the indicator matrix scaled by the group weights."""
    total = 0.0
    for a in range(k):
        inside = (z == a).astype(float)
        if inside.any():
            total += inside @ M @ inside / (w @ inside)
    return total


def best_single_move(M, w, z, k):
    """Return the largest rise of Q that moving one node can bring; no group is emptied."""
    before = association(M, w, z, k)
    best = -np.inf
    for i in range(len(z)):
        if np.count_nonzero(z == z[i]) == 1:
            continue
        for b in range(k):
            if b != z[i] and np.any(z == b):
                moved = z.copy()
                moved[i] = b
                best = max(best, association(M, w, moved, k) - before)
    return best


def kmeans_cost(X, z, k):
    """Return the sum of squared distances to the group means."""
    return sum(
        float(np.sum((X[z == a] - X[z == a].mean(axis=0)) ** 2)) for a in range(k) if np.any(z == a)
    )


def squared_distances_to_means(M, w, z, k):
    """Return |phi_i - mu_a|^2 of the Gram matrix W^-1 M W^-1, by definition."""
    G = M / np.outer(w, w)
    columns = []
    for a in range(k):
        share = np.where(z == a, w, 0.0) / w[z == a].sum()
        columns.append(np.diag(G) - 2.0 * G @ share + share @ G @ share)
    return np.stack(columns, axis=1)
