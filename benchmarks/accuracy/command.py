"""``python -m benchmarks accuracy``: run what is missing, and print the tables.

Rows are kept in ``out/accuracy.csv`` as they come. Rows of peers that are stored for the page count as there already,
since peers do not change, unless they were stopped for their time; rows of Isotherm do not.
"""

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from benchmarks.accuracy.graphs import (
    BY_CLASS,
    MASKS,
    ONE_AGAINST_REST,
    PER_CLASS,
    PUBLIC,
    TWENTY,
    Facts,
    Item,
    at_hand,
    facts,
    load_item,
    masked_at_hand,
)
from benchmarks.accuracy.halves import HALVES, WITH_FEATURES
from benchmarks.accuracy.methods import METHODS, SHOWN, VARIANTS, applies, best_variants, prepare
from benchmarks.accuracy.page import FACTS, ROWS, write_page
from benchmarks.accuracy.reach import TABLE
from benchmarks.accuracy.runs import SLOW, Results, Row, add_rows, pack, read_rows, run_method, unpack
from benchmarks.accuracy.tables import FEATURES, OURS, difference_table, method_table
from benchmarks.accuracy.trial import NOW, trial_tables
from benchmarks.accuracy.vectors import TABLE_METHODS, TABLES, tables_at_hand
from isotherm.study.methods import Method
from isotherm.study.tasks import PROTOCOLS

__all__ = ["chosen_methods", "main", "missing", "run", "write_facts"]


def main(arguments: Sequence[str]) -> None:
    """Find hidden labels by every method, with the same seeds for all; keep the scores and print tables."""
    options = _parser().parse_args(arguments)
    if options.renew is not None:
        _renew(options)
        return
    if options.keep:
        _keep(options)
    if options.page is not None:
        write_page(options.page)
    if options.page is not None or options.keep:
        return
    if options.official:
        options.protocols = [MASKS]
    elif options.one_against_rest:
        options.protocols = ["1%"]
    elif options.tables:
        options.protocols = list(PER_CLASS)
    names = chosen_graphs(options)
    if options.now is not None:
        _try_now(names, options)
        return
    methods = chosen_methods(options.methods, tables=options.tables)
    finished = {key: row for key, row in stored_rows(options).items() if not _ours(row) and row.status != SLOW}
    results = finished | read_rows(options.results)
    for name in names:
        run(name, methods, options.protocols, options, results)
    drawn = [protocol for protocol in options.protocols if protocol != PUBLIC]
    for title, table in tables(best_variants(results), names, drawn):
        print(f"\n{title}\n\n{table}")


def _try_now(names: list[str], options: argparse.Namespace) -> None:
    """Run Isotherm as it is now, and compare it with stored rows."""
    options.results, options.again = options.now, True
    options.now.unlink(missing_ok=True)
    results: Results = {}
    methods = chosen_methods(options.methods or NOW[options.tables], tables=options.tables)
    for name in names:
        run(name, methods, options.protocols, options, results)
    stored = stored_rows(options) | (read_rows(options.against) if options.against else {})
    for title, table in trial_tables(results, best_variants(stored)):
        print(f"\n{title}\n\n{table}")


def stored_rows(options: argparse.Namespace) -> Results:
    """The rows of the page, if there are any."""
    return unpack(options.stored.read_bytes()) if options.stored.exists() else {}


def chosen_graphs(options: argparse.Namespace) -> list[str]:
    """The graphs to run on; an unknown one ends the run."""
    if options.one_against_rest:
        return ONE_AGAINST_REST
    here = masked_at_hand() if options.official else tables_at_hand() if options.tables else at_hand()
    if options.graphs:
        lost = [name for name in options.graphs if name not in here and name.partition("/")[0] not in here]
        if lost:
            raise SystemExit(f"{lost[0]} is not in the folder of graphs: set ISOTHERM_DATA, or choose among {here}")
        return list(options.graphs)
    if not here:
        raise SystemExit("there are no graphs: set ISOTHERM_DATA to their folder")
    return [name for name in here if options.half in ("all", HALVES.get(name, options.half))]


def chosen_methods(names: Sequence[str] | None, *, tables: bool = False) -> list[Method]:
    """Methods by name or by a part of it, of those that are installed."""
    there = [method for method in (TABLE_METHODS if tables else METHODS).values() if method.installed]
    if not names:
        return there
    found: dict[str, Method] = {}
    for text in names:
        variants = VARIANTS.get(text, [])
        exact = [method for method in there if method.name in variants or method.name.lower() == text.lower()]
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
            wanted = range(options.draws) if options.again else missing(results, name, protocol, method, options.draws)
            if not wanted:
                continue
            if item is None:
                item = load_item(name)
                write_facts(options.results.with_suffix(".graphs.csv"), facts(item))
            if not applies(method, item.task):
                continue
            prepare(method)
            draws = [
                (number, draw) for number, draw in enumerate(item.draws(protocol, options.draws)) if number in wanted
            ]
            rows = list(run_method(item, method, protocol, draws, options.budget))
            add_rows(options.results, rows)
            results |= {row.key: row for row in rows}
            for row in rows:
                print(_line(row), flush=True)


def missing(results: Results, graph: str, protocol: str, method: Method, draws: int) -> Sequence[int]:
    """The draws that have no row yet."""
    if protocol in (PUBLIC, TWENTY) and graph not in (*WITH_FEATURES, *TABLES):
        return []
    count = 1 if protocol == PUBLIC else draws
    return [draw for draw in range(count) if (graph, protocol, draw, method.name) not in results]


def tables(results: Results, graphs: list[str], protocols: list[str]) -> Iterable[tuple[str, str]]:
    """The tables of a run, each with its title."""
    rich = [graph for graph in graphs if any(row.graph == graph and _rich(row) for row in results.values())]
    tried = {row.method for row in results.values() if row.graph in set(graphs) and row.protocol in protocols}
    alone = [name for name, method in SHOWN.items() if name in tried and not method.features]
    every = [name for name in SHOWN if name in tried]
    for title, names, methods in (
        (f"{len(graphs)} graphs, links only", graphs, alone),
        (f"{len(rich)} graphs with features", rich, every),
    ):
        if names and methods and protocols:
            yield title, method_table(results, names, protocols, methods)
            if OURS in methods:
                peers = [name for name in methods if name != OURS]
                yield "Paired differences, in points", difference_table(results, names, protocols, peers, OURS)


def _renew(options: argparse.Namespace) -> None:
    """Run Isotherm as it is now on all that the page shows, and make the page of its rows and those of the peers."""
    options.results, options.half, options.graphs = options.renew, "all", None
    results = read_rows(options.results)
    here = at_hand()
    single = [name for name in ONE_AGAINST_REST if name.partition("/")[0] in here]
    for names, protocols, methods in (
        (here, [*PROTOCOLS, TWENTY, PUBLIC], [OURS, "Isotherm, rule probable", "Isotherm, heat alone", FEATURES]),
        (here, list(BY_CLASS), [FEATURES]),
        (single, ["1%"], [OURS, "Isotherm, rule centered", "Isotherm, most probable"]),
        (masked_at_hand(), [MASKS], [OURS, FEATURES]),
        (tables_at_hand(), list(PER_CLASS), [TABLE]),
    ):
        for name in names:
            run(name, chosen_methods(methods, tables=name in TABLES), protocols, options, results)
    _keep(options)
    write_page(ROWS.with_name("accuracy.md"))


def _keep(options: argparse.Namespace) -> None:
    """Add rows and facts to those of the page."""
    ROWS.write_bytes(pack(stored_rows(options) | read_rows(options.results)))
    files = [path for path in (FACTS, options.results.with_suffix(".graphs.csv")) if path.exists()]
    (head, *lines), *others = [path.read_text(encoding="utf-8").splitlines() for path in files]
    lines += [line for other in others for line in other[1:]]
    latest = {line.split(",")[0]: line for line in lines}
    FACTS.write_text("\n".join([head, *(latest[name] for name in sorted(latest))]) + "\n", encoding="utf-8")


def write_facts(path: Path, found: Facts) -> None:
    """Add the facts about a graph to a file."""
    new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([field.name for field in fields(Facts)])
        writer.writerow([f"{value:.4g}" if isinstance(value, float) else value for value in astuple(found)])


def _ours(row: Row) -> bool:
    return row.method.startswith(OURS)


def _rich(row: Row) -> bool:
    return row.method in SHOWN and SHOWN[row.method].features


def _line(row: Row) -> str:
    scores = row.status or f"accuracy {row.accuracy:.3f}, macro-F1 {row.macro_f1:.3f}, {row.seconds:.2f} s"
    return f"{row.graph}, {row.protocol}, draw {row.draw}, {row.method}: {scores}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks accuracy", description=main.__doc__)
    add = parser.add_argument
    usual = [*PROTOCOLS, TWENTY, PUBLIC]
    every = [*usual, *BY_CLASS]
    add("--half", choices=["development", "confirmation", "all"], default="development", help="which graphs")
    add("--graphs", nargs="+", metavar="NAME", help="these graphs instead")
    add("--one-against-rest", action="store_true", help="classes of amazon_photo against the rest instead, 1%% seeds")
    add("--official", action="store_true", help="heterophilous graphs with their official masks instead")
    add("--tables", action="store_true", help="tables of vectors instead")
    add("--methods", nargs="+", metavar="NAME", help="names of methods, or parts of names (default: all)")
    words = f"{', '.join(every)} (default: the first {len(usual)})".replace("%", "%%")
    add("--protocols", nargs="+", choices=every, default=usual, metavar="P", help=words)
    add("--draws", type=int, default=3, help="draws of seeds for each graph and protocol (default 3)")
    add("--budget", type=float, default=60, help="CPU seconds of a method for a draw (default 60)")
    add("--results", type=Path, default=Path("out/accuracy.csv"), help="where rows are kept; those there are not run")
    add("--now", type=Path, metavar="FILE", help="run Isotherm as it is now, put its rows here, compare stored rows")
    add("--against", type=Path, metavar="FILE", help="with --now: compare these rows too, from an earlier --now")
    add("--renew", type=Path, metavar="FILE", help="run Isotherm on all, with rows here, and make the page anew")
    add("--stored", type=Path, default=ROWS, help="rows of the page; those of peers are not run again")
    add("--again", action="store_true", help="run also what is there already")
    add("--keep", action="store_true", help="copy the rows to docs/accuracy.csv.gz, and run nothing")
    add("--page", type=Path, help="make this page of docs/accuracy.csv.gz, and run nothing")
    return parser
