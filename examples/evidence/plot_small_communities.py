"""
Small communities in a large graph
==================================

Modularity cannot tell small communities apart if the graph is large enough: this is its resolution
limit. A ring of cliques is the plainest case. Every clique has five nodes and one link to the next.
Leiden, which maximizes modularity, merges neighboring cliques as the ring grows, because the merged
ones have the higher modularity. kgroups, which minimizes a description length, finds each of them.
"""

import random

import igraph
import matplotlib.pyplot as plt
import networkx as nx

import kgroups as kg

cliques = [4, 8, 16, 32, 64, 128, 256, 512]
by_kgroups, by_modularity = [], []
for count in cliques:
    G = nx.ring_of_cliques(count, 5)
    by_kgroups.append(len(kg.detect_communities(G)))
    random.seed(0)  # igraph draws from this
    g = igraph.Graph.from_networkx(G)
    leiden = g.community_leiden(objective_function="modularity", n_iterations=10)
    by_modularity.append(len(leiden))

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(cliques, by_modularity, "-s", color="C1", label="Leiden (modularity)")
ax.plot(cliques, by_kgroups, "-o", color="C0", label="kgroups")
ax.set(xscale="log", yscale="log", xlabel="cliques in the ring", ylabel="communities found")
for axis in (ax.xaxis, ax.yaxis):
    axis.set_major_formatter("{x:g}")
    axis.set_ticks([4, 16, 64, 256])
    axis.minorticks_off()
ax.legend()
plt.show()

# %%
# The figures behind the picture:

for row in zip(cliques, by_kgroups, by_modularity, strict=True):
    print("{:4d} cliques: kgroups finds {:3d} communities, Leiden {:3d}".format(*row))
