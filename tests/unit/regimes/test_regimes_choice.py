"""The rule that chooses a regime, and regimes as options."""

import math
from dataclasses import FrozenInstanceError, replace

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InputError
from kgroups.regimes import EXACT_NODES, check_regime
from kgroups.regimes.choice import affordable, choice_by_moments, disappointing
from kgroups.spectrum import moments
from strategies_levels import graph_of, part_of

RING = moments(part_of(graph_of(nx.ring_of_cliques(8, 6)))[0].bound)


def seen(k, s):
    """Return moments that show k communities of signal-to-noise ratio s."""
    return replace(RING, k=k, k_low=k, k_high=k, s=s)


@pytest.mark.parametrize("regime", [kg.Auto(), kg.Exact(), kg.FewGroups(), kg.ManyGroups()])
def test_regimes_are_values(regime):
    check_regime(regime)
    assert regime == type(regime)()
    assert hash(regime) == hash(type(regime)())
    with pytest.raises(FrozenInstanceError):
        regime.n = 3


@pytest.mark.parametrize("wrong", ["auto", None, kg.Exact, 3])
def test_anything_else_is_no_regime(wrong):
    message = r"regime must be Auto\(\), Exact\(\), FewGroups\(\) or ManyGroups\(\), got "
    with pytest.raises(InputError, match=message):
        kg.detect_communities(nx.karate_club_graph(), regime=wrong)


@pytest.mark.parametrize(
    ("k", "s", "n", "regime"),
    [
        (2, 1.3, 10_000, kg.FewGroups()),
        (64, 1.6, 100_000, kg.FewGroups()),
        (65, 1.3, 100_000, kg.ManyGroups()),
        (64, 1.6, 64 * 200 - 1, kg.ManyGroups()),
        (64, 1.6, 64 * 200, kg.FewGroups()),
        (10, 1.61, 100_000, kg.ManyGroups()),
    ],
)
def test_few_faint_and_large_communities_are_found_by_eigenvectors(k, s, n, regime):
    chosen, why = choice_by_moments(seen(k, s), n)
    assert chosen == regime
    assert why == (
        f"the moments of the spectrum show about {k} communities at a signal-to-noise ratio "
        f"of {s:.2f}"
    )


@pytest.mark.parametrize(
    ("k", "n", "possible"),
    [(1, 200, True), (1, 199, False), (64, 12_800, True), (64.5, 10**6, False)],
)
def test_eigenvectors_are_affordable_for_few_large_communities(k, n, possible):
    assert affordable(k, n) is possible


def planted_nats(n, k, s, degree):
    """Return what a planted partition saves, edge by edge, less the cost of its labels."""
    share = s / math.sqrt(degree)
    rates = share * k + 1.0 - share, 1.0 - share
    inside = rates[0] / k
    saved = inside * math.log(rates[0]) + (1.0 - inside) * math.log(rates[1])
    return 0.5 * n * degree * saved - n * math.log(k)


@pytest.mark.parametrize(("k", "s"), [(2, 1.9), (10, 1.8), (40, 2.0)])
def test_a_partition_is_disappointing_below_what_its_moments_promise(k, s):
    n, degree = 50_000, 20.0
    promised = planted_nats(n, k, s, degree)
    edges = 0.5 * n * degree
    allowance = 0.07 * abs(promised)
    assert disappointing(promised - 1.01 * allowance, seen(k, s), n, edges)
    assert not disappointing(promised - 0.99 * allowance, seen(k, s), n, edges)


@pytest.mark.parametrize(("k", "s"), [(65, 1.5), (10, 2.01)])
def test_nothing_is_disappointing_where_eigenvectors_would_not_help(k, s):
    assert not disappointing(-np.inf, seen(k, s), 50_000, 500_000.0)


def ring_of_triangles(n):
    """Return a connected graph of n nodes, n divisible by 3, of which each triple is a clique."""
    G = nx.ring_of_cliques(n // 3, 3)
    assert len(G) == n
    return G


@pytest.mark.compiled
@pytest.mark.parametrize("n", [EXACT_NODES - 1, EXACT_NODES + 2])
def test_auto_is_exact_up_to_a_thousand_nodes(n):
    report = kg.detect_communities(ring_of_triangles(n)).report
    if n <= EXACT_NODES:
        assert report.k_hat is not None
        assert (report.regime, report.why) == ("Exact", "Auto uses it up to 1,000 nodes")
    else:
        assert report.k_hat is None
        assert report.searches[0].n == n
        assert (report.regime, report.why) == (report.searches[0].regime, report.searches[0].why)


@pytest.mark.compiled
def test_the_size_of_the_component_counts_not_that_of_the_graph():
    G = nx.disjoint_union_all([nx.ring_of_cliques(20, 6) for _ in range(10)])
    report = kg.detect_communities(G).report
    assert len(G) > EXACT_NODES
    assert (report.regime, report.searches) == ("Exact", ())
    assert report.k_hat is not None


@pytest.mark.parametrize("regime", [kg.FewGroups(), kg.ManyGroups()], ids=repr)
def test_a_forced_regime_is_used_on_small_graphs_too(regime):
    report = kg.detect_communities(nx.ring_of_cliques(8, 6), regime=regime).report
    name = type(regime).__name__
    assert (report.regime, report.why) == (name, "asked for")
    assert [search.regime for search in report.searches] == [name]


@pytest.mark.parametrize("regime", [kg.FewGroups(), kg.ManyGroups()], ids=repr)
def test_trees_and_single_cycles_need_no_regime(regime):
    G = nx.disjoint_union_all([nx.balanced_tree(2, 5), nx.cycle_graph(30), nx.star_graph(20)])
    found = kg.detect_communities(G, regime=regime)
    assert len(found) == 3
    assert found.report.searches == ()


@pytest.mark.compiled
def test_exact_can_be_asked_for_on_a_large_graph():
    G = nx.ring_of_cliques(240, 5)
    found = kg.detect_communities(G, regime=kg.Exact())
    assert len(found) == 240
    assert (found.report.regime, found.report.why) == ("Exact", "asked for")
    assert found.report.searches == ()
    assert found.spectrum is not None
