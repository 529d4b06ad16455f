"""
Which nodes are certain, and which could be elsewhere
=====================================================

A partition assigns every node, also one whose links are divided. ``confidence()`` gives the
probability of each node's community under a block model, and ``boundary()`` lists the nodes below a
threshold, the least certain first.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import kgroups as kg
from kgroups.plotting import community_colors

G = nx.karate_club_graph()
partition = kg.detect_communities(G, 2)
confidence = partition.confidence()
print("below 0.9:", partition.boundary(0.9))

# %%
# On the left, the uncertain nodes are those between the two groups. On the right, all nodes in the
# order of their confidence.

order = np.argsort(confidence)
colors = community_colors(2)[partition.labels]
fig, (network, bars) = plt.subplots(
    1, 2, figsize=(9.6, 4.2), width_ratios=(1.5, 1), layout="constrained"
)
partition.plot(network, names=partition.boundary(0.9), title="named: probability below 0.9")
bars.bar(range(len(G)), confidence[order], color=colors[order])
bars.axhline(0.9, color="0.4", linewidth=1)
bars.set(xlabel="nodes, the least certain first", ylabel="probability of the community")
bars.set(ylim=(0.5, 1.0), xticks=[])
plt.show()
