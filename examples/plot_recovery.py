"""
How well communities come back, and where they cannot
=====================================================

Planted graphs with two groups and a mean degree of 5, from below the threshold of detection (a
signal-to-noise ratio of 1) to far above it. Below the threshold nobody can do better than chance.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import kgroups as kg

n, k, degree = 800, 2, 5.0
truth = np.repeat(np.arange(k), n // k)
ratios = np.array([0.4, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0])
overlaps = np.empty((ratios.size, 5))
for row, snr in enumerate(ratios):
    inside = (degree + snr * (k - 1) * np.sqrt(degree)) / n
    across = (degree - snr * np.sqrt(degree)) / n
    for seed in range(overlaps.shape[1]):
        G = nx.planted_partition_graph(k, n // k, inside, across, seed=seed)
        found = kg.detect_communities(G, k=k, rng=seed)
        overlaps[row, seed] = kg.metrics.overlap(truth, found.labels)

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(ratios, overlaps, "o", color="0.75", markersize=4)
ax.plot(ratios, overlaps.mean(axis=1), "-o", color="C0", label="mean of five graphs")
ax.axvline(1, color="C3", linewidth=1, label="threshold of detection")
ax.set(xlabel="signal-to-noise ratio", ylabel="overlap with the planted groups", ylim=(-0.03, 1.03))
ax.legend()
plt.show()
