"""
The threshold of detection, method by method
============================================

A study of planted graphs from below the threshold (a signal-to-noise ratio of 1) to far above it.
Below it no efficient method can do better than chance. The Bethe Hessian sees the groups as soon as
they can be seen; the eigenvectors of the adjacency matrix see hubs for much longer. Belief
propagation that is told the true rates is the Bayes-optimal line.
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
# Just above the threshold, in numbers: mean overlap and its 95 % interval.

for line in study.summary():
    if line["metric"] == "overlap" and line["snr"] == 1.4:
        interval = f"{line['low']:.2f} to {line['high']:.2f}"
        print(f"k = {line['k']}, {line['method']}: {line['mean']:.2f} ({interval})")
