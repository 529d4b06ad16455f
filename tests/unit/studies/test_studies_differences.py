"""Two plans: which values differ, said by the names that they were given under."""

import pytest

from kgroups._wording import worded
from kgroups.cli.parser import Flags, build_parser
from kgroups.studies.plan import differences

GENERATOR = "kgroups.generators.blocks.planted_partition"
PLAN = {
    "kgroups": "0.1.0",
    "generator": f"{GENERATOR}(sizes='balanced', beyond='clip')",
    "cells": [{"n": n, "snr": snr} for n in (60, 80) for snr in (0.5, 1.0)],
    "methods": {"kgroups": "a", "leiden": "b"},
    "k_given": {"kgroups": True, "leiden": False},
    "metrics": {"overlap": "m"},
    "trials": 4,
    "entropy": 0,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"trials": 5}, [("trials", "4", "5")]),
        ({"entropy": 1}, [("rng", "0", "1")]),
        ({"kgroups": "0.2.0"}, [("version of kgroups", "0.1.0", "0.2.0")]),
        ({"cells": PLAN["cells"][:2]}, [("n", "60, 80", "60")]),
        (
            {"cells": [{"n": 60, "snr": 0.5}, {"n": 80, "snr": 2.0}]},
            [("snr", "0.5, 1.0", "0.5, 2.0")],
        ),
        ({"cells": [{"n": 60, "k": 2}]}, [("n", "60, 80", "60"), ("snr", "0.5, 1.0", "absent"),
                                          ("k", "absent", "2")]),
        (
            {"methods": {"kgroups": "a"}, "k_given": {"kgroups": True}},
            [("method 'leiden'", "b called without k", "absent")],
        ),
        (
            {"methods": {"kgroups": "a", "leiden": "c"}},
            [("method 'leiden'", "b called without k", "c called without k")],
        ),
        (
            {"k_given": {"kgroups": True, "leiden": True}},
            [("method 'leiden'", "b called without k", "b called with k")],
        ),
        (
            {"metrics": {"nmi": "m"}},
            [("metric 'overlap'", "m", "absent"), ("metric 'nmi'", "absent", "m")],
        ),
        (
            {"generator": f"{GENERATOR}(sizes='multinomial', beyond='clip')"},
            [
                (
                    "generator",
                    PLAN["generator"],
                    f"{GENERATOR}(sizes='multinomial', beyond='clip')",
                )
            ],
        ),
        ({"generator": "mine"}, [("generator", PLAN["generator"], "mine")]),
        ({"trials": 5, "entropy": 1}, [("trials", "4", "5"), ("rng", "0", "1")]),
    ],
)  # fmt: skip
def test_values_that_differ(change, expected):
    assert differences(PLAN, {**PLAN, **change}) == expected


def test_cells_in_another_order_differ():
    (found,) = differences(PLAN, {**PLAN, "cells": [*PLAN["cells"][:2], *PLAN["cells"][:1:-1]]})
    assert found.name == "cells"


def test_long_texts_are_cut():
    (found,) = differences(PLAN, {**PLAN, "generator": "g" * 1000})
    assert len(found.second) == 160
    assert found.second.endswith("...")


def test_on_the_command_line_flags_are_named():
    with worded(Flags(build_parser().parse_args(["study", "--n", "60"]))):
        found = differences(PLAN, {**PLAN, "entropy": 1, "trials": 5, "cells": [{"n": 60}]})
    assert [difference.name for difference in found] == ["--n", "--snr", "--trials", "--rng"]
