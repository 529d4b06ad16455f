import threading

import numba
import numpy as np
import pytest

from kgroups.energy import Gaussian, kernel_kgroups
from kgroups.energy.threads import in_order


def test_results_come_in_the_order_of_the_tasks():
    first_may_end = threading.Event()

    def work(task):
        if task == 0 and numba.get_num_threads() > 1:
            assert first_may_end.wait(30)
        if task == 1:
            first_may_end.set()
        return task * task

    assert list(in_order(work, range(40))) == [task * task for task in range(40)]


def test_an_error_in_a_task_ends_the_others():
    done = []

    def work(task):
        if task == 3:
            msg = "no"
            raise ArithmeticError(msg)
        done.append(task)
        return task

    with pytest.raises(ArithmeticError, match="no"):
        list(in_order(work, range(10_000)))
    assert len(done) < 200


@pytest.mark.compiled
@pytest.mark.parametrize("memory", [0, 1e9])
def test_the_number_of_threads_does_not_matter(memory):
    X = np.random.default_rng(0).normal(size=(1_200, 3))
    found = []
    most = numba.get_num_threads()
    try:
        for threads in (1, most):
            numba.set_num_threads(threads)
            found.append(kernel_kgroups(X, 4, metric=Gaussian(), n_init=4, gram_memory=memory))
    finally:
        numba.set_num_threads(most)
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    np.testing.assert_array_equal(found[0].objectives, found[1].objectives)
