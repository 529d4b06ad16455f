"""
Power-law communities
=====================

LFR graphs have power laws of degrees and of community sizes, as many real networks do. The mixing
is the share of links that leave a community: the higher it is, the harder are communities to find.
Agreement with the planted communities is measured by AMI, which is 1 for a perfect match and 0 for
chance. Both methods choose the number of communities themselves.
"""

import matplotlib.pyplot as plt

from kgroups import generators
from kgroups.studies import sweep


def lfr(mixing, rng):
    planted = generators.lfr_benchmark(2000, degree=10, mixing=mixing, rng=rng)
    return planted.graph, planted.labels


study = sweep(
    lfr,
    {"mixing": [0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6]},
    methods=["kgroups-auto", "leiden-converged"],
    metrics=["ami"],
    trials=4,
    progress=False,
)

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
styles = {
    "kgroups-auto": ("C0", "o", "kgroups"),
    "leiden-converged": ("C1", "s", "Leiden, converged (modularity)"),
}
for method, (color, marker, label) in styles.items():
    rows = [row for row in study.rows if row["method"] == method]
    means = [line for line in study.summary() if line["method"] == method]
    ax.plot(
        [row["mixing"] for row in rows],
        [row["ami"] for row in rows],
        marker,
        color=color,
        alpha=0.3,
        markersize=4,
    )
    x, y = [line["mixing"] for line in means], [line["mean"] for line in means]
    ax.plot(x, y, f"-{marker}", color=color, label=label)
ax.set(xlabel="mixing", ylabel="AMI with the planted communities", ylim=(-0.03, 1.05))
ax.legend(title="mean of four graphs")
plt.show()
