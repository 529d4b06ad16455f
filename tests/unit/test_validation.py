"""Error classes, and the validation of arguments."""

import numpy as np
import pytest

from kgroups import errors
from kgroups._validation import as_rng, check_choice, check_k


def test_all_names_of_errors_exist_and_have_one_root():
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, errors.KGroupsError | errors.KGroupsWarning)
        assert kind.__doc__


def test_input_errors_are_value_errors():
    assert issubclass(errors.WeightError, errors.GraphError)
    assert issubclass(errors.FileFormatError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


def test_rng_none_is_one_fixed_stream():
    assert as_rng(None).random() == as_rng(None).random() == as_rng(0).random()


def test_generators_pass_through():
    generator = np.random.default_rng(5)
    assert as_rng(generator) is generator
    assert as_rng(np.int64(5)).random() == np.random.default_rng(5).random()


@pytest.mark.parametrize("rng", [True, -1, 0.5, "0"])
def test_other_rngs_are_refused(rng):
    with pytest.raises(errors.InputError, match="rng must be None, a whole number >= 0 or a numpy"):
        as_rng(rng)


@pytest.mark.parametrize("k", [1, np.int32(3), 5])
def test_whole_numbers_up_to_n_are_k(k):
    assert check_k(k, 5) == k
    assert type(check_k(k, 5)) is int


@pytest.mark.parametrize("k", [0, -1, 2.5, True, np.True_, "3", None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(errors.NumberOfCommunitiesError, match="k must be a whole number >= 1"):
        check_k(k, 5)


def test_k_must_not_exceed_n():
    message = "got k=6 for 5 nodes: 6 non-empty communities cannot be made"
    with pytest.raises(errors.NumberOfCommunitiesError, match=message):
        check_k(6, 5)


def test_choices_are_listed():
    check_choice("mode", None, (None, "a"))
    with pytest.raises(errors.InputError, match="mode must be one of None, 'a', got 'b'"):
        check_choice("mode", "b", (None, "a"))
