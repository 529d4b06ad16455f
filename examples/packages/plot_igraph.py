"""
Compare and draw with igraph
============================

``to_igraph`` returns a ``VertexClustering``, the type that igraph's own algorithms return, so that
igraph can compare, contract and draw it. The graph is the karate club; the weight of a friendship
is one plus the number of friends that the two have in common.
"""

import random

import igraph
import matplotlib.pyplot as plt

import kgroups as kg
from kgroups.plotting import community_colors

g = igraph.Graph.Famous("Zachary")
g.vs["name"] = [f"member {v}" for v in range(g.vcount())]
friends = [set(g.neighbors(v)) for v in g.vs]
g.es["weight"] = [1.0 + len(friends[u] & friends[v]) for u, v in g.get_edgelist()]

clustering = kg.detect_communities(g).to_igraph(g)
igraph.set_random_number_generator(random.Random(1))
leiden = g.community_leiden(objective_function="modularity", weights="weight", n_iterations=-1)
igraph.set_random_number_generator(random)

print("kgroups:", clustering.sizes(), f"modularity {clustering.modularity:.3f}")
print("Leiden: ", leiden.sizes(), f"modularity {leiden.modularity:.3f}")
print(f"NMI between them: {igraph.compare_communities(clustering, leiden, method='nmi'):.3f}")

# %%
# One node for each community, edges between communities added up:

contracted = clustering.cluster_graph(combine_vertices="first", combine_edges="sum")
print(contracted.es["weight"], "is the weight between the communities")

# %%
# Names and weights are kept, and igraph draws the groups.

layout = g.layout_kamada_kawai(seed=[(v % 6, v // 6) for v in range(34)])
palette = igraph.PrecalculatedPalette([(*color, 1.0) for color in community_colors(4)])
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, found, title in zip(axes, (clustering, leiden), ("kgroups", "Leiden"), strict=True):
    igraph.plot(
        found,
        target=ax,
        layout=layout,
        mark_groups=True,
        palette=palette,
        vertex_size=12,
        vertex_label=None,
    )
    ax.set_title(f"{title}: {len(found)} communities")
plt.show()
