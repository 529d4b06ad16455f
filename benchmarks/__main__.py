"""``python -m benchmarks``: quality, time and memory of kgroups and of every installed peer."""

import argparse
import csv
import sys
from pathlib import Path

from benchmarks import table, targets
from benchmarks.measure import Contest
from benchmarks.peers import LARGE_GRAPH_PEERS, PEERS
from benchmarks.suites import ROWS, SUITES, drawn


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--suite", choices=tuple(SUITES), default="small")
    chosen.add_argument("--graphs", nargs="+", choices=tuple(ROWS), metavar="NAME")
    chosen.add_argument("--list", action="store_true", help="name the graphs of each suite")
    chosen.add_argument(
        "--targets", action="store_true", help="print what large graphs must show and whether"
    )
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=LARGE_GRAPH_PEERS)
    parser.add_argument("--graphs-per-row", type=int, default=3, help="drawn for each line")
    parser.add_argument("--repeat", type=int, default=1, help="counted runs on each graph")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph and first run")
    parser.add_argument("--max-seconds", type=float, default=60, help="patience with one run")
    parser.add_argument("--csv", type=Path, help="write the table to this file, too")
    table.add_markdown_option(parser)
    return parser.parse_args()


def _print_table(options: argparse.Namespace) -> None:
    rows = [ROWS[name] for name in options.graphs] if options.graphs else SUITES[options.suite]
    print(
        f"{table.setting()}; {options.graphs_per_row} graphs for each drawn line from seed ", end=""
    )
    print(f"{options.seed} on, {options.repeat} counted runs on each in turns")
    peers = table.installed(options.peers)
    everything, measured = [table.header()], []
    print()
    table.print_line(table.header())
    with Contest(peers, max_seconds=options.max_seconds) as contest:
        for row in table.present(rows):
            graphs = drawn([row], options.seed, options.graphs_per_row)
            outcomes = contest.measure(graphs, repeat=options.repeat, seed=options.seed)
            measured.append((row.name, outcomes))
            for line in table.cells(row.name, outcomes):
                everything.append(line)
                table.print_line(line)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows(everything)
    if options.markdown:
        caption = f"{table.CELLS} {table.setting()}."
        lines = table.markdown(table.by_graph(measured, peers))
        table.write_markdown(options.markdown, [lines, caption], peers)
    if len(everything) == 1:
        sys.exit("no graph could be had")


def main() -> None:
    """Print the table."""
    options = _arguments()
    if options.list:
        for suite, rows in SUITES.items():
            print(f"{suite}: {' '.join(row.name for row in rows)}")
    elif options.targets:
        effort = targets.Effort.of(options)
        sys.exit(not targets.judge(targets.NAMES, effort, markdown=options.markdown))
    else:
        _print_table(options)


if __name__ == "__main__":
    main()
