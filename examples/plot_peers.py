"""
Modularity finds communities in noise
=====================================

A random graph without communities has partitions of high modularity, and methods that maximize it
find them. The spectrum says that there is one community.
"""

import matplotlib.pyplot as plt
import networkx as nx

import kgroups as kg

degrees = (3, 4, 6, 8, 12, 16)
by_modularity, by_spectrum = [], []
for degree in degrees:
    G = nx.gnm_random_graph(1000, 500 * degree, seed=0)
    G = G.subgraph(max(nx.connected_components(G), key=len)).copy()
    by_modularity.append(len(nx.community.louvain_communities(G, seed=0)))
    by_spectrum.append(len(kg.detect_communities(G)))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(degrees, by_modularity, "-s", color="0.6", label="Louvain (modularity)")
ax.plot(degrees, by_spectrum, "-o", color="C0", label="kgroups")
ax.set(xlabel="mean degree of a random graph", ylabel="communities found", ylim=(0, None))
ax.legend()
plt.show()
