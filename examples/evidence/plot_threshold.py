"""
The spectrum shows the number of communities
============================================

The eigenvalues of :math:`N_r`, the normalized Bethe Hessian, that exceed 1 count the communities.
The three graphs have four planted groups each: without any signal, above the detection threshold (a
signal-to-noise ratio of 1), and far above it.
"""

import matplotlib.pyplot as plt
import numpy as np

import kgroups as kg

fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, snr in zip(axes, (0.0, 1.5, 2.5), strict=True):
    graph, _ = kg.generators.planted_partition(600, k=4, degree=8.0, snr=snr, rng=1)
    N = kg.BetheHessian().normalized_matrix(graph).toarray()
    eigenvalues = np.linalg.eigvalsh(N)
    k = kg.estimate_k(graph).k
    informative = eigenvalues > 1
    ax.hist(eigenvalues[~informative], bins=40, color="0.75")
    ax.plot(eigenvalues[informative], np.full(k, 2.0), "v", color="C0", markersize=8)
    ax.axvline(1, color="0.3", linewidth=1)
    ax.set(title=f"signal-to-noise {snr}: k = {k}", xlabel="eigenvalue of $N_r$")
axes[0].set_ylabel("eigenvalues")
plt.show()

# %%
# Without a signal one eigenvalue exceeds 1: the graph is one community. Above the detection
# threshold there is one for each group.
