"""
Handwritten digits, as a graph of nearest neighbors
===================================================

Data without links can be clustered as a graph: link every point to its nearest neighbors, here by
scikit-learn, and find the communities. The number of digits is not given. ``GraphKGroups`` of
``kgroups.backends.sklearn`` does the same as an estimator.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

import kgroups as kg

digits = load_digits()
A = kneighbors_graph(digits.data, n_neighbors=10)
partition = kg.detect_communities(A, symmetrize="union")
agreement = kg.metrics.ami(digits.target, partition.labels)
print(f"{len(partition)} communities, AMI with the digits {agreement:.3f}")

# %%
# The mean image of each community, the largest first, with the digit that most of its images show.
# There are more communities than digits, because people write a digit in several ways.

fig, axes = plt.subplots(-(-len(partition) // 8), 8, figsize=(9, 6), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for number, ax in enumerate(axes.flat[: len(partition)]):
    members = partition.labels == number
    most = np.bincount(digits.target[members])
    ax.imshow(digits.images[members].mean(axis=0), cmap="gray_r")
    share = most.max() / members.sum()
    ax.set_title(f"{members.sum()} images,\n{share:.0%} show {most.argmax()}", fontsize=8)
plt.show()
