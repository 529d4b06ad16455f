"""What ``import kgroups`` offers, and what it must not load."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kgroups

REFERENCE = Path(__file__).parents[2] / "docs" / "api" / "index.md"
SIDE_PACKAGES = {"datasets", "energy", "errors", "generators", "metrics", "plotting", "scoring"}
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


def names_in_reference(module: str) -> set[str]:
    """Return the names of a module that the reference lists, without those of its submodules."""
    current, names = "", set()
    for line in REFERENCE.read_text().splitlines():
        if heading := re.fullmatch(r"\.\. (?:current)?module:: (\S+)", line):
            current = heading[1]
        elif entry := re.fullmatch(r"   ([\w.]+)", line):
            owner, _, name = f"{current}.{entry[1]}".rpartition(".")
            if owner == module:
                names.add(name)
    return names


def test_the_reference_pins_the_public_names():
    modules = {name for name in kgroups.__all__ if inspect.ismodule(getattr(kgroups, name))}
    assert modules == SIDE_PACKAGES | {"studies"}
    assert set(kgroups.__all__) - modules == names_in_reference("kgroups")


@pytest.mark.parametrize("package", ["datasets", "energy", "generators", "metrics", "plotting"])
def test_the_reference_pins_the_names_of_a_package(package):
    assert set(getattr(kgroups, package).__all__) == names_in_reference(f"kgroups.{package}")


def test_all_names_of_the_reference_exist():
    module, listed = None, 0
    for line in REFERENCE.read_text().splitlines():
        if heading := re.fullmatch(r"\.\. (?:current)?module:: (\S+)", line):
            module = importlib.import_module(heading[1])
        elif entry := re.fullmatch(r"   ([\w.]+)", line):
            *packages, name = entry[1].split(".")
            owner = importlib.import_module(".".join([module.__name__, *packages]))
            assert hasattr(owner, name), entry[1]
            listed += 1
    assert listed > 50


@pytest.mark.parametrize("name", kgroups.__all__)
def test_public_name_can_be_reached(name):
    assert getattr(kgroups, name) is not None


def test_dir_lists_the_public_names():
    assert set(kgroups.__all__) <= set(dir(kgroups))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'kgroups' has no attribute 'detect_groups'"):
        _ = kgroups.detect_groups


def test_import_loads_nothing_heavy():
    assert modules_loaded_by("import kgroups").isdisjoint(HEAVY)


def test_the_heavy_list_can_be_violated():
    assert not modules_loaded_by("import kgroups, networkx").isdisjoint(HEAVY)


@pytest.mark.parametrize("package", sorted(SIDE_PACKAGES))
def test_side_packages_do_not_compile_or_load_graph_packages(package):
    loaded = modules_loaded_by(f"import kgroups\nkgroups.{package}")
    assert loaded.isdisjoint({"numba", "igraph", "networkx", "pandas", "matplotlib"})


def test_everything_is_reachable_without_optional_dependencies():
    program = """
import inspect, sys
for name in ("sklearn", "pandas", "pyarrow", "matplotlib", "joblib", "distributed"):
    sys.modules[name] = None
import kgroups
from kgroups import *
assert not hasattr(kgroups, "KernelKGroups")
assert {name for name, _ in inspect.getmembers(kgroups)} >= set(kgroups.__all__)
"""
    assert "kgroups.backends.sklearn" not in modules_loaded_by(program)
