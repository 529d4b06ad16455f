"""``python -m benchmarks.constants``: the experiment behind each setting of the search.

Each experiment gives one field of ``kgroups.Search`` other values than the default, which is marked
by a star, and leaves the rest alone. A line is a graph, a pair of columns a value:

- Phi, the objective, in percent of the best of the line; for ``significance`` the share of graphs
  that are one community, for ``dispersion``, ``independent``, ``methods`` and ``rules`` the AMI
  with the known communities;
- the time as a multiple of that with the default.

Both are means over graphs, the second geometric; real networks are searched with other random
numbers instead. Settings are chosen by Phi and time alone, never by labels. The dispersion is
estimated from the graph, not chosen; labels show what it changes. ``rules`` switches off one rule
at a time, ``independent`` one condition under which the dispersion is 1.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks import table
from benchmarks.constants.cases import case_of
from benchmarks.constants.experiments import EXPERIMENTS, Experiment
from benchmarks.measure import fastest
from benchmarks.peers import Found
from benchmarks.suites import Row

_NAME = 32
_LEAST_SECONDS = 0.02


def measured(experiment: Experiment, row: Row, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean scores and the mean time ratios of all settings on one line."""
    settings, score = experiment.settings, experiment.score
    scores, seconds = np.empty((2, len(seeds), len(settings)))
    for i, seed in enumerate(seeds):
        case = case_of(row, seed)
        # The first call compiles kernels and fills caches.
        case.detected(settings[0].method)
        for j, setting in enumerate(settings):
            with setting.rules():
                found, seconds[i, j] = fastest(
                    lambda case=case, method=setting.method: Found(case.detected(method)),
                    _LEAST_SECONDS,
                )
            scores[i, j] = score.of(case, found.labels)
    chosen = [setting.chosen for setting in settings].index(True)
    ratios = np.exp(np.mean(np.log(seconds / seconds[:, [chosen]]), axis=0))
    means = scores.mean(axis=0)
    if score.of_best:
        best = means.max()
        means = 100.0 * means / best if best > 0.0 else np.full(means.size, np.nan)
    return means, ratios


def _line(name: str, entries: list[str], experiment: Experiment) -> str:
    widths = (max(14, len(setting.label) + 2) for setting in experiment.settings)
    cells = (entry.rjust(width) for entry, width in zip(entries, widths, strict=True))
    return (name.ljust(_NAME) + "".join(cells)).rstrip()


def _entries(means: np.ndarray, ratios: np.ndarray) -> list[str]:
    return [
        f"{'-' if np.isnan(mean) else f'{mean:.2f}'} {ratio:5.2f}"
        for mean, ratio in zip(means, ratios, strict=True)
    ]


def lines_of(experiment: Experiment, seeds: range) -> Iterator[str]:
    """Yield the lines of an experiment as they are measured, and one with the mean of Phi."""
    yield _line("", [setting.label for setting in experiment.settings], experiment)
    everything = []
    for row in table.present(experiment.rows):
        everything.append(measured(experiment, row, seeds))
        yield _line(row.name, _entries(*everything[-1]), experiment)
    if not experiment.score.of_best:
        return
    scores, ratios = (np.array(part) for part in zip(*everything, strict=True))
    means = np.nanmean(scores, axis=0), np.exp(np.log(ratios).mean(axis=0))
    yield _line("mean", _entries(*means), experiment)


def main() -> None:
    """Print the experiments that the command line names, all without a name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each line")
    parser.add_argument("--graphs", type=int, help="of each line; by default 3, of nulls 50")
    options = parser.parse_args()
    for name in options.only or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        print(f"{name}: {experiment.question}; {experiment.score.heading}, time")
        if options.list:
            continue
        graphs = options.graphs or experiment.graphs or 3
        for line in lines_of(experiment, range(options.seed, options.seed + graphs)):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
