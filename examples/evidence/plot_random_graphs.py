"""
One community in a random graph
===============================

A random graph has no communities, but it has partitions of high modularity, and methods that
maximize modularity return them. kgroups returns one community.
"""

import matplotlib.pyplot as plt
import networkx as nx

import kgroups as kg

degrees = (3, 4, 6, 8, 12, 16)
by_modularity, by_kgroups = [], []
for degree in degrees:
    G = nx.gnm_random_graph(1000, 500 * degree, seed=0)
    G = G.subgraph(max(nx.connected_components(G), key=len)).copy()
    by_modularity.append(len(nx.community.louvain_communities(G, seed=0)))
    by_kgroups.append(len(kg.detect_communities(G)))

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(degrees, by_modularity, "-s", color="C1", label="Louvain (modularity)")
ax.plot(degrees, by_kgroups, "-o", color="C0", label="kgroups")
ax.set(xlabel="mean degree of a random graph", ylabel="communities found", ylim=(0, None))
ax.yaxis.get_major_locator().set_params(integer=True)
ax.legend()
plt.show()
print("kgroups:", by_kgroups)
print("Louvain:", by_modularity)
