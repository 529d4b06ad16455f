"""
From a sparse matrix to labels, without a copy
==============================================

Who works with SciPy or scikit-network has a symmetric CSR matrix and wants one label per row. The
matrix is not copied, the labels are in the order of its rows, and sorting the rows by label shows
the blocks that were hidden.
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
# The same matrix, rows and columns in the order of the labels:

order = np.argsort(labels, kind="stable")
fig, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for ax, matrix, title in zip(axes, (A, A[order][:, order]), ("as it came", "sorted"), strict=True):
    ax.spy(matrix, markersize=0.4, color="C0")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
