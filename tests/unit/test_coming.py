"""Every call in the second column of docs/coming.md runs."""

import re
from pathlib import Path

import pandas as pd
import pytest

from readme_blocks import blocks_of

PAGE = (Path(__file__).parents[2] / "docs" / "coming.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?!in |---)(.*?) \| (.*?) \| .*\|$", re.MULTILINE)
CALLS = list(
    dict.fromkeys(call for row in ROW.findall(PAGE) for call in re.findall("`(.*?)`", row[1]))
)


class AnnData:
    """What kgroups reads of an AnnData, which need not be installed."""

    __module__ = "anndata._core.anndata"

    def __init__(self, A):
        self.obsp = {"connectivities": A}
        self.obs_names = pd.Index([f"cell{i}" for i in range(A.shape[0])])


@pytest.fixture(scope="module")
def namespace():
    names = {}
    exec(next(blocks_of(PAGE)).code, names)
    names["adata"] = AnnData(names["A"])
    return names


def test_the_tables_are_read():
    assert len(CALLS) >= 40
    assert len(re.findall(r"^## ", PAGE, re.MULTILINE)) == 7


@pytest.mark.parametrize("call", CALLS)
def test_call_runs(call, namespace):
    assert eval(call, dict(namespace)) is not None or call == "partition.annotate(G)"


def test_scores_and_metrics_that_are_said_not_to_differ_do_not(namespace):
    """The rows of networkx, igraph and scikit-learn with "nothing" in the last column."""
    import igraph
    import networkx as nx
    from sklearn import metrics

    kg, G, a, b = (namespace[name] for name in ("kg", "G", "partition", "other"))
    assert kg.scoring.modularity(G, a) == pytest.approx(nx.community.modularity(G, a))
    quality = (kg.scoring.coverage(G, a), kg.scoring.performance(G, a))
    assert quality == pytest.approx(nx.community.partition_quality(G, a))
    z, y = a.labels.tolist(), b.labels.tolist()
    for method, ours in (("nmi", kg.metrics.nmi), ("vi", kg.metrics.variation_of_information)):
        assert ours(a, b) == pytest.approx(igraph.compare_communities(z, y, method))
    assert kg.metrics.ari(a, b) == pytest.approx(metrics.adjusted_rand_score(z, y))
    assert kg.metrics.nmi(a, b) == pytest.approx(metrics.normalized_mutual_info_score(z, y))
    assert kg.metrics.ami(a, b) == pytest.approx(metrics.adjusted_mutual_info_score(z, y))
