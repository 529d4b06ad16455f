"""``python -m benchmarks.constants``: the experiments behind the constants of the many regime.

Each experiment runs the search on the same fresh graphs with one constant at values on both sides
of the chosen one, which is marked by a star. It prints, as means over the graphs of a line:

- NMI and AMI with the planted communities, and the error of k in percent, with its sign;
- the nats that the communities save, in percent of what the planted ones save. Above 100 the
  likelihood prefers what was found, and a better search would not help. A dash stands where the
  planted ones save nothing;
- entries of the matrix that the kernels read, for each edge.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.constants.cases import Case, case_of
from benchmarks.constants.experiments import EXPERIMENTS, Experiment, Setting
from kgroups import metrics

_WIDTHS = (20, 23, 7, 7, 9, 8, 9)
_HEADINGS = ("graph", "value", "NMI", "AMI", "k error %", "nats %", "entries/m")


def _line(cells: tuple[str, ...]) -> str:
    texts, numbers = cells[:2], cells[2:]
    left = (text.ljust(width) for text, width in zip(texts, _WIDTHS, strict=False))
    right = (number.rjust(width) for number, width in zip(numbers, _WIDTHS[2:], strict=True))
    return "  ".join([*left, *right])


def measured(case: Case, setting: Setting) -> tuple[float, ...]:
    """Return NMI, AMI, error of k in percent, nats in percent, and entries read per edge."""
    found = setting.found(case)
    planted = case.nats_of(case.truth)
    k = np.unique(found.z).size
    return (
        metrics.nmi(case.truth, found.z),
        metrics.ami(case.truth, found.z),
        100.0 * (k / case.true_k - 1.0),
        100.0 * case.nats_of(found.z) / planted if planted > 0.0 else np.nan,
        found.entries / case.level.edges,
    )


def lines_of(experiment: Experiment, seeds: range) -> Iterator[str]:
    """Yield the lines of an experiment, as they are measured."""
    for graph in experiment.graphs:
        for setting in experiment.settings:
            rows = [measured(case_of(graph, seed), setting) for seed in seeds]
            nmi, ami, k_error, nats, entries = np.mean(rows, axis=0)
            yield _line(
                (
                    graph,
                    setting.label,
                    f"{nmi:.4f}",
                    f"{ami:.4f}",
                    f"{k_error:+.1f}",
                    "-" if np.isnan(nats) else f"{nats:.2f}",
                    "-" if np.isnan(entries) else f"{entries:.0f}",
                )
            )


def main() -> None:
    """Print the experiments that the command line names, all without a name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each line")
    parser.add_argument("--graphs", type=int, default=3, help="drawn for each line")
    options = parser.parse_args()
    for name in options.only or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        print(f"{name}: {experiment.question}")
        if options.list:
            continue
        print(_line(_HEADINGS))
        for line in lines_of(experiment, range(options.seed, options.seed + options.graphs)):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
