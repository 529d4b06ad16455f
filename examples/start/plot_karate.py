"""
Two communities, and why two
============================

Zachary's karate club split in two. The left panel shows the communities that kgroups finds without
being told how many there are. The right panel shows the eigenvalues of the normalized Bethe
Hessian: those above 1 stand for communities, those below are what a random graph would have.

``python examples/start/plot_karate.py docs/images/karate.png`` writes the picture of the README.
"""

import sys

import matplotlib.pyplot as plt
import networkx as nx

import kgroups as kg
from kgroups.plotting import plot_spectrum

G = nx.karate_club_graph()
partition = kg.detect_communities(G)
print(partition)

fig, (network, eigenvalues) = plt.subplots(
    1, 2, figsize=(9.6, 4.2), width_ratios=(2.3, 1), layout="constrained"
)
partition.plot(network, names=[0, 33], title=f"{len(partition)} communities in the karate club")
plot_spectrum(partition.spectrum, ax=eigenvalues)
if len(sys.argv) > 1:
    fig.savefig(sys.argv[1], dpi=120)
plt.show()
