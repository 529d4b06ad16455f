"""
The blocks of a sparse matrix
=============================

The input is a symmetric matrix of SciPy, the output one label per row. The matrix is not copied.
With rows and columns in the order of their labels, the blocks appear that were hidden before.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

import kgroups as kg

rng = np.random.default_rng(3)
truth = rng.integers(0, 5, size=600)
probability = np.where(truth[:, None] == truth, 0.12, 0.012)
upper = sparse.csr_array(np.triu(rng.random((600, 600)) < probability, k=1), dtype=float)
A = sparse.csr_array(upper + upper.T)

partition = kg.detect_communities(A)
labels = partition.labels
print("labels:", labels[:12], "...")
print("no copy:", np.shares_memory(partition.graph.indices, A.indices))
print(f"overlap with the planted groups: {kg.metrics.overlap(truth, labels):.3f}")

# %%
# The same matrix twice:

order = np.argsort(labels, kind="stable")
fig, axes = plt.subplots(1, 2, figsize=(8.4, 4.3), layout="constrained")
titles = ("as given", "sorted by community")
for ax, matrix, title in zip(axes, (A, A[order][:, order]), titles, strict=True):
    ax.spy(matrix, markersize=0.5, color="C0")
    ax.set(title=title, xticks=[], yticks=[])
for end in np.cumsum(np.bincount(labels))[:-1]:
    axes[1].axhline(end, color="0.6", linewidth=0.8)
    axes[1].axvline(end, color="0.6", linewidth=0.8)
plt.show()
