"""
Is there structure at all?
==========================

``significance`` compares a graph with random graphs that have the same degrees. The statistic is
the second eigenvalue of the normalized Bethe Hessian: if it is larger than that of nearly all
random graphs, there is structure. The karate club has structure. Its own links, shuffled so that
every member keeps the number of friends, have none.
"""

import matplotlib.pyplot as plt

import kgroups as kg

karate = kg.datasets.load("karate").graph
shuffled = kg.generators.configuration_model(karate, rng=1)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharex=True, sharey=True, layout="constrained")
for ax, graph, name in zip(axes, (karate, shuffled), ("karate club", "shuffled"), strict=True):
    verdict = kg.significance(graph, weight=None, rng=0)
    print(f"{name}: {verdict}\n")
    ax.hist(verdict.null_eigenvalues, bins=20, color="0.75", label="random graphs with its degrees")
    ax.axvline(verdict.eigenvalue, color="C0", linewidth=2, label="this graph")
    ax.set(title=f"{name}: p = {verdict.p:.2g}", xlabel="second eigenvalue")
axes[0].set_ylabel("random graphs")
axes[1].legend(loc="upper right")
plt.show()
