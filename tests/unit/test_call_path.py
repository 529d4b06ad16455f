"""The modules that a call of ``detect_communities`` enters, and the direction of its calls."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The aim is 24, 20 and 25. Where eigenvectors propose too, spectrum, hartigan and inference are
# entered beside the search. Python decides and kernels loop: most steps have a module of each.
MOST_MODULES = {"karate": 29, "lfr": 20, "k given": 30}

TRACED = """
import importlib, json, pkgutil, sys

import networkx as nx

import kgroups

# Module code must not run under the profiler, so every module is imported before.
for found in pkgutil.walk_packages(kgroups.__path__, "kgroups."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)

karate = nx.karate_club_graph()
lfr = kgroups.generators.lfr_benchmark(300, degree=12, mixing=0.2, rng=1).graph
CASES = {
    "karate": (karate, None),
    "lfr": (lfr, None),
    "k given": (karate, 3),
}

# They call what is passed to them: a kernel, or a function whose arguments they check.
RUNNERS = ("kgroups._kernel", "kgroups._progress", "kgroups._validation")

def module_of(frame):
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("kgroups.") and name not in RUNNERS:
            return name
        frame = frame.f_back
    return None

def trace(graph, k):
    calls = set()

    def record(frame, event, argument):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("kgroups."):
            calls.add((module_of(frame.f_back), frame.f_globals["__name__"]))

    sys.setprofile(record)
    kgroups.detect_communities(graph, k)
    sys.setprofile(None)
    return sorted((caller or "", callee) for caller, callee in calls)

print(json.dumps({name: trace(*case) for name, case in CASES.items()}))
"""


def layers():
    """Return the layer of every package, 0 for the uppermost."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (rule for rule in rules["contracts"] if rule["type"] == "layers")
    return {
        name.strip(): depth
        for depth, layer in enumerate(contract["layers"])
        for name in re.split(r"[|:]", layer)
    }


# Refiners and models are handed a problem and its level, and ask these for what they need.
HANDED_DOWN = {"kgroups.search.levels", "kgroups.search.problem"}


def package_of(module):
    return module.split(".")[1]


@pytest.fixture(scope="module")
def calls():
    """Return the pairs of calling and called module, for each graph."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", TRACED], env=environment, check=True, capture_output=True, text=True
    )
    return json.loads(ran.stdout)


@pytest.mark.parametrize("case", ["karate", "lfr", "k given"])
def test_few_modules_are_entered(calls, case):
    entered = sorted({callee for _, callee in calls[case]})
    assert "kgroups.detect" in entered
    assert len(entered) <= MOST_MODULES[case], "\n".join(entered)


@pytest.mark.parametrize("case", ["karate", "lfr", "k given"])
def test_no_package_calls_one_above_it(calls, case):
    depth = layers()
    packages = {
        (package_of(caller), package_of(callee))
        for caller, callee in calls[case]
        if caller and callee not in HANDED_DOWN
    }
    backward = {(caller, callee) for caller, callee in packages if depth[callee] < depth[caller]}
    assert not backward
