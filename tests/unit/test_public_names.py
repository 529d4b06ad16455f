"""What ``import kgroups`` offers, and what it must not load."""

import subprocess
import sys

import pytest

import kgroups

PUBLIC_NAMES = [
    "Auto",
    "BetheHessian",
    "Exact",
    "FewGroups",
    "Graph",
    "Hartigan",
    "KMeansSeed",
    "ManyGroups",
    "Partition",
    "QRSeed",
    "Search",
    "WarmStart",
    "as_graph",
    "datasets",
    "detect_communities",
    "energy",
    "errors",
    "estimate_k",
    "generators",
    "metrics",
    "read_graph",
    "refine_partition",
    "scoring",
    "studies",
]
HEAVY = [
    "numba",
    "igraph",
    "networkx",
    "scipy.sparse.linalg",
    "pandas",
    "pyarrow",
    "matplotlib",
    "sklearn",
]


def modules_loaded_by(program: str) -> set[str]:
    listing = f"{program}\nimport sys\nprint('\\n'.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", listing], check=True, capture_output=True, text=True
    )
    return set(ran.stdout.split())


def test_public_names_are_pinned():
    assert kgroups.__all__ == PUBLIC_NAMES


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_public_name_can_be_reached(name):
    assert getattr(kgroups, name) is not None


def test_dir_lists_the_public_names():
    assert set(PUBLIC_NAMES) <= set(dir(kgroups))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'kgroups' has no attribute 'detect_groups'"):
        _ = kgroups.detect_groups


def test_import_loads_nothing_heavy():
    assert modules_loaded_by("import kgroups").isdisjoint(HEAVY)


def test_the_heavy_list_can_be_violated():
    assert not modules_loaded_by("import kgroups, networkx").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "room", ["errors", "generators", "metrics", "scoring", "datasets", "energy"]
)
def test_side_rooms_do_not_compile_or_load_graph_packages(room):
    loaded = modules_loaded_by(f"import kgroups\nkgroups.{room}")
    assert loaded.isdisjoint({"numba", "igraph", "networkx", "pandas", "matplotlib"})


def test_everything_is_reachable_without_optional_dependencies():
    program = """
import inspect, sys
for name in ("sklearn", "pandas", "pyarrow", "matplotlib", "plotly", "joblib", "distributed"):
    sys.modules[name] = None
import kgroups
from kgroups import *
assert not hasattr(kgroups, "KernelKGroups")
assert {name for name, _ in inspect.getmembers(kgroups)} >= set(kgroups.__all__)
"""
    assert "kgroups.sklearn" not in modules_loaded_by(program)
