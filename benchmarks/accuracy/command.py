"""``python -m benchmarks accuracy``: run what is missing, and print the tables."""

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from benchmarks.accuracy.graphs import BY_CLASS, ONE_AGAINST_REST, PUBLIC, Facts, Item, at_hand, facts, load_item
from benchmarks.accuracy.halves import HALVES
from benchmarks.accuracy.runs import Results, Row, add_rows, pack, read_rows, run_method
from benchmarks.accuracy.tables import OURS, difference_table, method_table
from isotherm.study.methods import METHODS, Method
from isotherm.study.tasks import PROTOCOLS

__all__ = ["chosen_methods", "main", "missing", "run", "write_facts"]


def main(arguments: Sequence[str]) -> None:
    """Find hidden labels by every method, with the same seeds for all; keep the scores and print tables."""
    options = _parser().parse_args(arguments)
    if options.page is not None or options.keep:
        _publish(options.results, options.page, keep=options.keep)
        return
    names = chosen_graphs(options.half, options.graphs, options.one_against_rest)
    methods = chosen_methods(options.methods)
    protocols = ["1%"] if options.one_against_rest else options.protocols
    results = read_rows(options.results)
    for name in names:
        run(name, methods, protocols, options, results)
    for title, table in tables(results, names, [protocol for protocol in protocols if protocol != PUBLIC]):
        print(f"\n{title}\n\n{table}")


def chosen_graphs(half: str, names: Sequence[str] | None, one_against_rest: bool) -> list[str]:
    """The graphs to run on; an unknown one ends the run."""
    if one_against_rest:
        return ONE_AGAINST_REST
    here = at_hand()
    if names:
        lost = [name for name in names if name.partition("/")[0] not in here]
        if lost:
            raise SystemExit(f"{lost[0]} is not in the folder of graphs: set ISOTHERM_DATA, or choose among {here}")
        return list(names)
    if not here:
        raise SystemExit("there are no graphs: set ISOTHERM_DATA to their folder")
    return [name for name in here if half in ("all", HALVES[name])]


def chosen_methods(names: Sequence[str] | None) -> list[Method]:
    """Methods by name or by a part of it, of those that are installed."""
    there = [method for method in METHODS.values() if method.installed]
    if not names:
        return there
    found: dict[str, Method] = {}
    for text in names:
        exact = [method for method in there if method.name.lower() == text.lower()]
        matching = exact or [method for method in there if text.lower() in method.name.lower()]
        if not matching:
            raise SystemExit(f"there is no method {text!r}: choose among {', '.join(method.name for method in there)}")
        found |= {method.name: method for method in matching}
    return list(found.values())


def run(
    name: str, methods: Iterable[Method], protocols: Iterable[str], options: argparse.Namespace, results: Results
) -> None:
    """Run what is missing on one graph, and add it to the results and their file."""
    item: Item | None = None
    for protocol in protocols:
        for method in methods:
            if not options.again and not missing(results, name, protocol, method, options.draws):
                continue
            if item is None:
                item = load_item(name)
                write_facts(options.results.with_suffix(".graphs.csv"), facts(item))
            if method.features and item.task.features is None:
                continue
            draws = item.draws(protocol, options.draws)
            rows = list(run_method(item, method, protocol, draws, options.budget))
            add_rows(options.results, rows)
            results |= {row.key: row for row in rows}
            for row in rows:
                print(_line(row), flush=True)


def missing(results: Results, graph: str, protocol: str, method: Method, draws: int) -> bool:
    """Whether some draw has no row yet."""
    count = 1 if protocol == PUBLIC else draws
    return any((graph, protocol, draw, method.name) not in results for draw in range(count))


def tables(results: Results, graphs: list[str], protocols: list[str]) -> Iterable[tuple[str, str]]:
    """The tables of a run, each with its title."""
    rich = [graph for graph in graphs if any(row.graph == graph and _rich(row) for row in results.values())]
    tried = {row.method for row in results.values() if row.graph in set(graphs) and row.protocol in protocols}
    alone = [name for name, method in METHODS.items() if name in tried and not method.features]
    every = [name for name in METHODS if name in tried]
    for title, names, methods in (
        (f"{len(graphs)} graphs, links only", graphs, alone),
        (f"{len(rich)} graphs with features", rich, every),
    ):
        if names and methods and protocols:
            yield title, method_table(results, names, protocols, methods)
            if OURS in methods:
                peers = [name for name in methods if name != OURS]
                yield "Paired differences, in points", difference_table(results, names, protocols, peers, OURS)


def _publish(results: Path, page: Path | None, *, keep: bool) -> None:
    """Copy rows and facts to the repository, and make the page of those that are there."""
    from benchmarks.accuracy.page import FACTS, ROWS, write_page

    if keep:
        ROWS.write_bytes(pack(read_rows(results)))
        head, *lines = results.with_suffix(".graphs.csv").read_text(encoding="utf-8").splitlines()
        latest = {line.split(",")[0]: line for line in lines}
        FACTS.write_text("\n".join([head, *(latest[name] for name in sorted(latest))]) + "\n", encoding="utf-8")
    if page is not None:
        write_page(page)


def write_facts(path: Path, found: Facts) -> None:
    """Add the facts about a graph to a file."""
    new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([field.name for field in fields(Facts)])
        writer.writerow([f"{value:.4g}" if isinstance(value, float) else value for value in astuple(found)])


def _rich(row: Row) -> bool:
    return row.method in METHODS and METHODS[row.method].features


def _line(row: Row) -> str:
    scores = row.status or f"accuracy {row.accuracy:.3f}, macro-F1 {row.macro_f1:.3f}, {row.seconds:.2f} s"
    return f"{row.graph}, {row.protocol}, draw {row.draw}, {row.method}: {scores}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks accuracy", description=main.__doc__)
    add = parser.add_argument
    usual = [*PROTOCOLS, PUBLIC]
    every = [*usual, *BY_CLASS]
    add("--half", choices=["development", "confirmation", "all"], default="development", help="which graphs")
    add("--graphs", nargs="+", metavar="NAME", help="these graphs instead")
    add("--one-against-rest", action="store_true", help="classes of amazon_photo against the rest instead, 1%% seeds")
    add("--methods", nargs="+", metavar="NAME", help="names of methods, or parts of names (default: all)")
    words = f"{', '.join(every)} (default: the first {len(usual)})".replace("%", "%%")
    add("--protocols", nargs="+", choices=every, default=usual, metavar="P", help=words)
    add("--draws", type=int, default=3, help="draws of seeds for each graph and protocol (default 3)")
    add("--budget", type=float, default=60, help="CPU seconds for a method, graph and protocol (default 60)")
    add("--results", type=Path, default=Path("out/accuracy.csv"), help="where rows are kept; those there are not run")
    add("--again", action="store_true", help="run also what is there already")
    add("--keep", action="store_true", help="copy the rows to docs/accuracy.csv.gz, and run nothing")
    add("--page", type=Path, help="make this page of docs/accuracy.csv.gz, and run nothing")
    return parser
