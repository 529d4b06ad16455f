"""
Real networks with known groups
===============================

Agreement (AMI) with the groups that are known for a network: factions of a club, conferences of
football teams, departments of an institute. Three of these networks come with kgroups; the others
take part if their files are in the folder named by ``KGROUPS_DATA``, and are listed below the
picture if they are not. The known groups are not
always what the links show: the cell types of the fly's neurons are hardly visible to any method.
"""

import random
import warnings

import matplotlib.pyplot as plt
import numpy as np

import kgroups as kg

classics = ("karate", "dolphins", "football", "polbooks", "email-Eu-core", "cora")
flies = ("drosophila_left", "drosophila_right")
names, by_kgroups, by_modularity, absent = [], [], [], []
for info in kg.datasets.describe():
    if info.name not in classics + flies:
        continue
    if not info.present:
        absent.append(info.name)
        continue
    network = kg.datasets.load(info.name)
    g = network.graph.to_igraph()
    g.vs["truth"] = list(network.labels[info.truth])
    g = g.connected_components().giant()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.errors.KGroupsWarning)
        found = kg.detect_communities(g)
    random.seed(0)  # igraph draws from this
    weights = "weight" if "weight" in g.es.attributes() else None
    leiden = g.community_leiden("modularity", weights=weights, n_iterations=10)
    names.append(info.name)
    by_kgroups.append(kg.metrics.ami(g.vs["truth"], found.labels))
    by_modularity.append(kg.metrics.ami(g.vs["truth"], leiden.membership))

rows = np.arange(len(names))
fig, ax = plt.subplots(figsize=(6.8, 0.5 * len(names) + 1.2), layout="constrained")
ax.barh(rows - 0.19, by_kgroups, 0.36, color="C0", label="kgroups")
ax.barh(rows + 0.19, by_modularity, 0.36, color="C1", label="Leiden (modularity)")
ax.set(xlabel="AMI with the known groups", xlim=(0, 1), yticks=rows, yticklabels=names)
ax.invert_yaxis()
ax.legend(loc="lower right")
plt.show()

# %%
# ``python -m benchmarks.real`` prints the tables of the evidence, with more networks, methods and
# times, and with intervals.

for name, one, other in zip(names, by_kgroups, by_modularity, strict=True):
    print(f"{name:18s} kgroups {one:.3f}   Leiden {other:.3f}")
print("not in the picture, as their files were absent:", ", ".join(absent) or "none")
