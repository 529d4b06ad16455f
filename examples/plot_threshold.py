"""
The spectrum tells the number of communities
============================================

The eigenvalues of :math:`N_r` above 1 count the communities. This example draws planted graphs with
four groups, from no structure at all to strong communities, and marks the threshold.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import kgroups as kg

n, k, degree = 600, 4, 8.0
fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for ax, snr in zip(axes, (0.0, 1.5, 2.5), strict=True):
    # Probabilities inside and across groups at this signal-to-noise ratio.
    inside = (degree + snr * (k - 1) * np.sqrt(degree)) / n
    across = (degree - snr * np.sqrt(degree)) / n
    G = nx.planted_partition_graph(k, n // k, inside, across, seed=1)
    N = kg.BetheHessian().normalized_matrix(G).toarray()
    eigenvalues = np.linalg.eigvalsh(N)
    found = kg.estimate_k(G).k
    informative = eigenvalues > 1
    ax.hist(eigenvalues[~informative], bins=40, color="0.75")
    ax.plot(eigenvalues[informative], np.full(found, 2.0), "v", color="C3")
    ax.axvline(1, color="C3", linewidth=1)
    ax.set(title=f"signal-to-noise {snr}: k = {found}", xlabel="eigenvalue of $N_r$")
axes[0].set_ylabel("eigenvalues")
plt.show()

# %%
# Without structure one eigenvalue is past the threshold: the graph is one community. Above the
# threshold of detection, at a ratio of 1, there is one for each group.
