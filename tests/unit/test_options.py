"""Objects that hold options print what differs from their defaults."""

import inspect
from dataclasses import MISSING, fields, is_dataclass, replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

import kgroups as kg
from kgroups import energy, generators
from kgroups._blas import DenseLimits
from kgroups.adapters.edges import ReadOptions
from kgroups.page.document import PageLimits

PUBLIC = [
    getattr(module, name)
    for module in (kg, energy, generators)
    for name in module.__all__
    if is_dataclass(getattr(module, name))
]
CLASSES = [
    *(one for one in PUBLIC if all(field.default is not MISSING for field in fields(one))),
    *(DenseLimits, ReadOptions, PageLimits),
]
NAMES = {one.__name__: one for one in CLASSES} | {"PlantedAffinity": generators.PlantedAffinity}


@pytest.mark.parametrize("options", CLASSES, ids=lambda options: options.__name__)
def test_defaults_print_as_nothing_but_the_name(options):
    assert repr(options()) == f"{options.__name__}()"


def test_the_objects_of_detection_are_among_them():
    assert {
        *("Auto", "Search", "Spectral", "KMeansInit", "QRInit", "Hartigan", "BeliefPropagation"),
        *("BetheHessian", "Power", "Exponential", "Gaussian", "PowerLaw"),
    } <= set(NAMES)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (kg.Auto(search=kg.Search(starts=2)), "Auto(search=Search(starts=2))"),
        (kg.Auto(max_few=64), "Auto()"),
        (kg.BetheHessian("second-moment"), "BetheHessian(r='second-moment')"),
        (kg.Hartigan(guard=None, margin=0.0), "Hartigan(margin=0.0, guard=None)"),
        (energy.Power(1), "Power()"),
        (energy.Gaussian("median"), "Gaussian(sigma='median')"),
        (generators.PlantedAffinity(8.0, 1.5), "PlantedAffinity(degree=8.0, snr=1.5)"),
    ],
)
def test_other_values_are_named_and_the_text_gives_an_equal_object(options, shown):
    assert repr(options) == shown
    assert eval(shown, NAMES) == options


@given(
    starts=st.integers(1, 9),
    least_gain=st.floats(0.0, 1.0),
    dispersion=st.none() | st.floats(1.0, 100.0),
    exact_nodes=st.integers(1, 5_000),
)
def test_any_settings_are_equal_to_what_they_print(starts, least_gain, dispersion, exact_nodes):
    options = replace(
        kg.Auto(),
        search=kg.Search(starts=starts, least_gain=least_gain, dispersion=dispersion),
        spectral=kg.Spectral(exact_nodes=exact_nodes),
    )
    assert eval(repr(options), NAMES) == options


def test_the_signature_of_detection_is_short():
    """Its help and its page began with eleven lines of settings."""
    shown = str(inspect.signature(kg.detect_communities))
    for text in ("= BetheHessian(),", "= Auto(),", "= KMeansInit(),", "= Hartigan(),"):
        assert text in shown
