"""
Groups that differ in spread, not in the mean
=============================================

A disk of points and a ring around it have the same mean. k-means, which is kernel k-groups with
squared distances, looks for groups with different means and cuts the plane in two. Other
semimetrics compare whole distributions.
"""

import matplotlib.pyplot as plt
import numpy as np

import kgroups as kg
from kgroups.energy import Exponential, Power, energy_distance, kernel_kgroups
from kgroups.plotting import community_colors

rng = np.random.default_rng(4)
disk = rng.normal(0.0, 0.4, (300, 2))
angle = rng.uniform(0.0, 2.0 * np.pi, 300)
radius = 2.0 + 0.5 * rng.exponential(size=300)
ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
X, truth = np.vstack([disk, ring]), np.repeat([0, 1], 300)

metrics = (Power(2.0), Power(1.0), Exponential(1.0))
fig, axes = plt.subplots(1, 3, figsize=(10, 3.9), sharex=True, sharey=True, layout="constrained")
for ax, metric in zip(axes, metrics, strict=True):
    labels = kernel_kgroups(X, 2, metric=metric).labels
    ax.scatter(*X.T, s=6, color=community_colors(2)[labels])
    accuracy = kg.metrics.accuracy(truth, labels)
    ax.set(title=f"{metric}\naccuracy {accuracy:.2f}", aspect="equal")
    ax.set_axis_off()
plt.show()

# %%
# The same semimetrics measure how far two distributions are from each other. Squared distances
# compare means only, and those of the disk and the ring hardly differ.

for metric in metrics:
    print(f"{metric}: {energy_distance(disk, ring, metric=metric):.3f}")
