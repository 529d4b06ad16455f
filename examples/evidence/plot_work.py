"""
Work grows with the number of edges
===================================

``report.visits`` counts the matrix entries that detection has read. Unlike seconds it does not depend
on the machine. On LFR graphs of 500 to 30,000 nodes it is a few hundred entries per edge,
whatever the size.
"""

import matplotlib.pyplot as plt

import kgroups as kg

edges, visits = [], []
for n in (500, 1000, 2000, 4000, 8000, 16_000, 30_000):
    graph, truth = kg.generators.lfr_benchmark(n, degree=15, mixing=0.4, rng=1)
    partition = kg.detect_communities(graph)
    edges.append(graph.m)
    visits.append(partition.report.visits)
    agreement = kg.metrics.ami(truth, partition.labels)
    print(f"{graph.m:7d} edges: {len(partition):4d} communities, AMI {agreement:.3f}")

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(edges, [v / m for v, m in zip(visits, edges, strict=True)], "-o", color="C0")
ax.set(xscale="log", xlabel="edges", ylabel="matrix entries read per edge", ylim=(0, None))
plt.show()
