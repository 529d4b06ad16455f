"""
Digits at several scales
========================

Images of handwritten digits, each linked to its 15 nearest neighbors. People write some digits in
several ways, so there are more groups of similar images than digits: the graph has several scales.
``partition.levels()`` shows them, and the one that was returned among them.
"""

import random

import igraph
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

import kgroups as kg

digits = load_digits()
near = kneighbors_graph(digits.data, n_neighbors=15)
A = ((near + near.T) > 0).astype(float)

partition = kg.detect_communities(A)
levels = partition.levels()
for place, level in enumerate(levels):
    agreement = kg.metrics.ami(digits.target, level.labels)
    mark = ", returned" if place == levels.returned else ""
    print(f"{len(level)} communities: AMI with the digits {agreement:.3f}{mark}")

# %%
# The labels did not choose the level that is returned. Beside it, what Leiden finds by modularity,
# until nothing changes, and what the search finds if each link counts in full although neighbors of
# neighbors are neighbors.

g = igraph.Graph(n=A.shape[0], edges=np.column_stack(near.nonzero())).simplify()
random.seed(0)
leiden = g.community_leiden("modularity", n_iterations=-1).membership
in_full = kg.detect_communities(A, method=kg.Auto(search=kg.Search(dispersion=1.0)))
found = {"kgroups": partition.labels, "kgroups, dispersion=1": in_full.labels, "Leiden": leiden}
for name, labels in found.items():
    agreement = kg.metrics.ami(digits.target, labels)
    print(f"{name}: {np.unique(labels).size} communities, AMI {agreement:.3f}")
print(f"links count as if there were {partition.report.dispersion:.2g} times fewer")

# %%
# The tree of bands shows which communities become one at the next level, the coarsest at the left.

levels.plot()

# %%
# The mean image of each community that was returned, the largest first, with the digit that most of
# its images show.

rows = -(-len(partition) // 6)
fig, axes = plt.subplots(rows, 6, figsize=(8, 1.7 * rows), layout="constrained", squeeze=False)
for ax in axes.flat:
    ax.set_axis_off()
for number, ax in enumerate(axes.flat[: len(partition)]):
    members = partition.labels == number
    most = np.bincount(digits.target[members])
    ax.imshow(digits.images[members].mean(axis=0), cmap="gray_r")
    share = most.max() / members.sum()
    ax.set_title(f"{members.sum()} images,\n{share:.0%} show {most.argmax()}", fontsize=8)
plt.show()
