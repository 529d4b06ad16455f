"""
Work grows with the number of edges
===================================

``report.visits`` counts the matrix entries that detection has read. Unlike seconds it does not
depend on the machine. On LFR graphs of 500 to 30,000 nodes it grows about as the number of edges
does, or more slowly; the gray lines are proportional to that number.
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
    per_edge = visits[-1] / graph.m
    print(
        f"{graph.m:7d} edges, {per_edge:5.1f} entries read per edge: "
        f"{len(partition):4d} communities, AMI {agreement:.3f}"
    )

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ends = [edges[0], edges[-1]]
for factor in (10, 100):
    ax.plot(ends, [factor * m for m in ends], color="0.8", linewidth=1)
    text, end = f"{factor} per edge", (ends[1], factor * ends[1])
    ax.annotate(text, end, (0, -16), textcoords="offset points", ha="right", va="top", color="0.5")
ax.plot(edges, visits, "-o", color="C0")
ax.set(xscale="log", yscale="log", xlabel="edges", ylabel="matrix entries read")
plt.show()
