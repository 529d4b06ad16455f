"""Slow twins of stability: straight from the definitions, over the labels of resamples."""

import itertools
from collections import Counter


def best_matchings(own, found):
    """Yield every one-to-one matching with the most nodes as a dict from own group to found."""
    cells = Counter(zip(own, found, strict=True))
    groups, others = sorted(set(own)), sorted(set(found))
    # None stands for no match, for any number of groups.
    choices = itertools.permutations([*others, *[None] * len(groups)], len(groups))
    matchings = [dict(zip(groups, chosen, strict=True)) for chosen in set(choices)]
    values = [sum(cells[pair] for pair in matching.items()) for matching in matchings]
    for matching, value in zip(matchings, values, strict=True):
        # Groups without common nodes are no match.
        if value == max(values) and all(b is None or cells[a, b] for a, b in matching.items()):
            yield matching


def shares(own, resamples, matchings):
    """Return the share of each node and the mean Jaccard similarity of each community.

    ``resamples`` are pairs of labels and which nodes have an edge; ``matchings`` one dict each.
    """
    stays, similar = {}, {}
    for (labels, linked), matching in zip(resamples, matchings, strict=True):
        nodes = [i for i in range(len(own)) if linked[i]]
        for i in nodes:
            stays.setdefault(i, []).append(matching[own[i]] == labels[i])
        for a in {own[i] for i in nodes}:
            mine = {i for i in nodes if own[i] == a}
            theirs = {i for i in nodes if labels[i] == matching[a]}
            similar.setdefault(a, []).append(len(mine & theirs) / len(mine | theirs))
    return [
        {key: sum(values) / len(values) for key, values in each.items()}
        for each in (stays, similar)
    ]


def together(resamples, edges):
    """Return for each edge how often its ends share a community where both have edges."""
    found = {}
    for i, j in edges:
        for labels, linked in resamples:
            if linked[i] and linked[j]:
                found.setdefault((i, j), []).append(labels[i] == labels[j])
    return {edge: sum(values) / len(values) for edge, values in found.items()}
