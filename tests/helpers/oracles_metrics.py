"""Slow twins of the metrics: straight from the definitions, for a handful of nodes."""

import itertools
import math
from collections import Counter


def matched_nodes(truth, labels):
    """Try every one-to-one matching of the fewer names with the more."""
    cells = Counter(zip(truth, labels, strict=True))
    classes, groups = sorted(set(truth)), sorted(set(labels))
    if len(classes) <= len(groups):
        return max(
            sum(cells[pair] for pair in zip(classes, chosen, strict=True))
            for chosen in itertools.permutations(groups, len(classes))
        )
    return max(
        sum(cells[pair] for pair in zip(chosen, groups, strict=True))
        for chosen in itertools.permutations(classes, len(groups))
    )


def entropy(labels):
    n = len(labels)
    return -sum(count / n * math.log(count / n) for count in Counter(labels).values())


def mutual_information(truth, labels):
    joint = list(zip(truth, labels, strict=True))
    return entropy(truth) + entropy(labels) - entropy(joint)


def expected_mutual_information(truth, labels):
    """Average over every order of the labels."""
    values = [mutual_information(truth, order) for order in itertools.permutations(labels)]
    return math.fsum(values) / len(values)


def adjusted_rand(truth, labels):
    """Count the pairs of nodes one by one."""
    together = apart_labels = apart_truth = 0
    pairs = list(itertools.combinations(range(len(truth)), 2))
    for i, j in pairs:
        same_class, same_group = truth[i] == truth[j], labels[i] == labels[j]
        together += same_class and same_group
        apart_labels += same_class and not same_group
        apart_truth += same_group and not same_class
    in_class, in_group = together + apart_labels, together + apart_truth
    expected = in_class * in_group / len(pairs)
    return (together - expected) / ((in_class + in_group) / 2 - expected)
