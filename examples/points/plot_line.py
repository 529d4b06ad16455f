"""
The best two classes of numbers
===============================

Two classes of numbers, one of them with a long tail. For numbers, the clustering with the smallest
within-energy can be found exactly, by sorting; no initial labels are needed. Moves of single
numbers from random initial labels end in this optimum or in another, local one.
"""

import matplotlib.pyplot as plt
import numpy as np

import kgroups as kg
from kgroups.energy import Power, kernel_kgroups, split_line

rng = np.random.default_rng(0)
numbers = np.exp(np.concatenate([rng.normal(0.0, 1.5, 400), rng.normal(1.5, 0.3, 400)]))
truth = np.repeat([0, 1], 400)

split = split_line(numbers)
by_means = kernel_kgroups(numbers, 2, metric=Power(2.0))
print(f"smallest within-energy: accuracy {kg.metrics.accuracy(truth, split.labels):.3f}")
print(f"k-means: accuracy {kg.metrics.accuracy(truth, by_means.labels):.3f}")

# %%
# k-means separates the tail from the rest. On the right: the within-energy in which thirty random
# starts end, relative to the smallest possible.

cut = min(numbers[by_means.labels == a].max() for a in range(2))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
bins = np.geomspace(numbers.min(), numbers.max(), 60)
left.hist([numbers[truth == a] for a in range(2)], bins=bins, stacked=True, color=["0.8", "0.6"])
left.axvline(split.threshold, color="C0", label="smallest within-energy")
left.axvline(cut, color="C1", linestyle="--", label="k-means")
left.set(xscale="log", xlabel="number", ylabel="count")
left.legend()

starts = (kernel_kgroups(numbers, 2, init="random", n_init=1, rng=seed) for seed in range(30))
ends = [found.within_energy / split.within_energy for found in starts]
right.plot(np.sort(ends), "o", color="C0", markersize=3)
right.axhline(1.0, color="0.5", linewidth=1)
right.set(xlabel="start", ylabel="within-energy / smallest")
plt.show()
