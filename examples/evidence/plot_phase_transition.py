"""
Near the detection threshold
============================

A study of planted graphs from below the detection threshold (a signal-to-noise ratio of 1) to far
above it. Below it no efficient method does better than chance. The Bethe Hessian finds the groups
soon after; the eigenvectors of the adjacency matrix follow nodes of high degree for much longer.
Belief propagation that is told the true rates is the Bayes-optimal line.
"""

import matplotlib.pyplot as plt

from kgroups.studies import phase_transition

study = phase_transition(
    600,
    k=[2, 4],
    degree=4.0,
    snr=[0.4, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
    methods=("kgroups", "bethe-hessian", "spectral-adjacency", "bp-oracle"),
    trials=8,
    progress=False,
)
study.plot()
plt.show()

# %%
# Just above the threshold: mean overlap and its 95 % interval.

for line in study.summary():
    if line["metric"] == "overlap" and line["snr"] == 1.4:
        interval = f"{line['low']:.2f} to {line['high']:.2f}"
        print(f"k = {line['k']}, {line['method']}: {line['mean']:.2f} ({interval})")
