"""
The characters of a novel
=========================

Two characters of *Les Misérables* are linked if they appear in the same chapters; the weight of the
link is the number of these chapters. Weights are used wherever a graph has them.
"""

import matplotlib.pyplot as plt

import kgroups as kg

novel = kg.datasets.load("les_miserables")
partition = kg.detect_communities(novel.graph)

fig, ax = plt.subplots(figsize=(9, 6.5), layout="constrained")
partition.plot(
    ax,
    names=["Valjean", "Javert", "Myriel", "Marius", "Enjolras", "Fantine"],
    title=f"{len(partition)} communities among {novel.graph.n} characters",
)
plt.show()

# %%
# The six members of each community that appear most often with others:

degree = dict(zip(novel.graph.nodes, novel.graph.degrees, strict=True))
for number, community in enumerate(partition):
    members = sorted(community, key=lambda name: (-degree[name], name))
    print(f"{number}: {', '.join(members[:6])}")
