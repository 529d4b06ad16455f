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


def sweeps(M, w, z, k, *, neighbors=False, margin=0.0, max_sweeps=100):
    """Return labels, sweeps and moves of Hartigan's method, each gain a difference of totals."""
    z, moves, typical = z.copy(), 0, np.abs(M[M != 0]).mean() if M.any() else 0.0
    least = 1e-10 * max(
        abs(M[np.ix_(z == a, z == a)].sum() / w[z == a].sum()) for a in range(k) if np.any(z == a)
    )
    for done in range(1, max_sweeps + 1):
        before = moves
        for i in range(len(z)):
            if np.count_nonzero(z == z[i]) == 1:
                continue
            near = np.unique(z[np.flatnonzero(M[i])[np.flatnonzero(M[i]) != i]])
            gains = {}
            for b in near.tolist() if neighbors else range(k):
                if b != z[i] and np.any(z == b):
                    moved = z.copy()
                    moved[i] = b
                    gains[b] = association(M, w, moved, k) - association(M, w, z, k)
                    weights = w[z == z[i]].sum(), w[z == b].sum()
                    gains[b] -= margin * typical * sum(1.0 / weight for weight in weights)
            best = max(gains, key=gains.get, default=None)
            if best is not None and gains[best] > least:
                z[i], moves = best, moves + 1
        if moves == before:
            return z, done, moves
    return z, max_sweeps, moves


def greedy_labels(X, k, draws):
    """Return the nearest of k centers for each row, drawn by greedy k-means++.

    The first center is drawn by the first number, the others by equal shares of the rest, of which
    that of the first center is not used.
    """
    n, offers = len(X), draws[1:].reshape(k, -1)
    centers, z = [int(draws[0] * n)], np.zeros(n, dtype=np.int64)
    distance = np.sum((X - X[centers[0]]) ** 2, axis=1)
    for a in range(1, k):
        mass = np.cumsum(distance)
        picks = np.searchsorted(mass, offers[a] * mass[-1], side="right")
        to_picks = np.sum((X[:, np.newaxis] - X[np.minimum(picks, n - 1)]) ** 2, axis=2)
        best = int(np.argmin(np.minimum(to_picks, distance[:, np.newaxis]).sum(axis=0)))
        centers.append(int(min(picks[best], n - 1)))
        z[to_picks[:, best] < distance] = a
        distance = np.minimum(distance, to_picks[:, best])
    z[centers] = np.arange(k)
    return z


def best_kmeans(X, k, draws):
    """Return the labels of least cost among starts by k-means++ and Hartigan moves."""
    best, least = None, np.inf
    for row in draws:
        z, *_ = sweeps(X @ X.T, np.ones(len(X)), greedy_labels(X, k, row), k, max_sweeps=50)
        cost = kmeans_cost(X, z, k)
        if best is None or cost < least * (1.0 - 1e-9) - 1e-12:
            best, least = z, cost
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
