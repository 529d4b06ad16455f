"""
A networkx script that runs faster without a change
===================================================

All functions below are functions of networkx. In the second run networkx is told to use kgroups
wherever that is faster: by two lines here, or by two environment variables for a script that you do
not want to change. The graph and the scores are the same. Louvain is still Louvain, run by the C
code of igraph.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import networkx as nx

nx.config.warnings_to_ignore.add("cache")
sizes = [400] * 6
p = [[0.04 if i == j else 0.002 for j in range(6)] for i in range(6)]


def analyze():
    """Draw a graph, find communities and score them, twenty times over."""
    seconds = {}

    def timed(name, function, *args, **options):
        start = perf_counter()
        result = function(*args, **options)
        seconds[name] = seconds.get(name, 0.0) + perf_counter() - start
        return result

    G = timed("draw", nx.stochastic_block_model, sizes, p, seed=1)
    found = timed("Louvain", nx.community.louvain_communities, G, seed=1)
    for _ in range(20):
        score = timed("modularity", nx.community.modularity, G, found)
        timed("quality", nx.community.partition_quality, G, found)
        timed("matrix", nx.to_scipy_sparse_array, G)
    return seconds, G, score


alone, G, score = analyze()
nx.config.backend_priority.algos = ["kgroups"]
nx.config.backend_priority.generators = ["kgroups"]
analyze()  # the first call loads the backend
together, again, other_score = analyze()
nx.config.backend_priority.algos = []
nx.config.backend_priority.generators = []

print("the same graph:", nx.utils.graphs_equal(G, again))
print(f"modularity of Louvain: {score:.4f} and {other_score:.4f}")

# %%
# Seconds of each step on the machine that built this page. The matrix and the scores gain most,
# because the graph is converted once.

names = list(alone)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
rows = range(len(names))
ax.barh([r - 0.2 for r in rows], [alone[n] for n in names], 0.4, color="C1", label="networkx")
ax.barh(
    [r + 0.2 for r in rows], [together[n] for n in names], 0.4, color="C0", label="with kgroups"
)
ax.set(xscale="log", xlabel="seconds", yticks=rows, yticklabels=names)
ax.invert_yaxis()
ax.legend()
plt.show()
