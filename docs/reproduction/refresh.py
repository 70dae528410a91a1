"""Make the copy of the report in this folder: ``python docs/reproduction/refresh.py [OUT]``.

With OUT, the folder of a finished ``isotherm reproduce all``, its scores are first copied to ``runs``, rounded to six
digits. The report is then made from the scores in ``runs``, without running any experiment, so that a test can repeat
it.
"""

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import Any

from isotherm.paper.document import Document
from isotherm.paper.experiment import AUTHORS, Results, read_lines
from isotherm.paper.graph_experiments import column
from isotherm.paper.pictures import curve, hollow, keys, panels, style, svg
from isotherm.paper.report import Conditions, build_report, write_report
from isotherm.paper.runner import EXPERIMENTS
from isotherm.paper.scoring import SHIFTED
from isotherm.paper.verdicts import CURVES, Verdict, entries

HERE = Path(__file__).parent
SUMMARY = HERE / "summary.svg"
GRAPHS = {"table2": "uniform seeds", "table3": "seeds by degree", "table4": "largest communities"}
DIGITS = 6  # digits of a score; counts are kept whole


def pack(text: str) -> bytes:
    """A file of results with rounded scores, compressed; the same text always gives the same bytes."""
    lines = read_lines(text)
    rounded = io.StringIO()
    writer = csv.DictWriter(rounded, lines[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**line, "value": _rounded(float(line["value"]))} for line in lines)
    return gzip.compress(rounded.getvalue().encode(), 9, mtime=0)


def _rounded(value: float) -> str:
    return str(int(value)) if value.is_integer() else f"{value:.{DIGITS}g}"


def kept() -> dict[str, Results]:
    """The scores in ``runs``."""
    files = {name: HERE / "runs" / f"{name}.csv.gz" for name in EXPERIMENTS}
    return {name: Results.of(read_lines(gzip.decompress(file.read_bytes()).decode())) for name, file in files.items()}


def report() -> Document:
    """The report on the scores in ``runs``."""
    return build_report(kept(), Conditions(runs=10, seed=0, processes=2))


def summary_picture(results: dict[str, Results]) -> bytes:
    """The published numbers and ours: the entries of tables 2 to 4, and the curves of figures 2 and 3."""
    figure, (table, *axes) = panels(6, columns=3, height=2.9, width=8)  # as wide as a page, so that no text is shrunk
    axes.pop(2).remove()  # the entries take the left of both rows
    table.set_subplotspec(table.get_gridspec()[:, 0])
    _draw_entries(table, results)
    for each, name in zip(axes, CURVES, strict=True):
        (case,) = results[name].cases(AUTHORS)
        for rule, published in CURVES[name].items():
            points = results[name].curve(AUTHORS, case, rule, SHIFTED)
            curve(each, rule, points)
            hollow(each, rule, [x for x, _ in points], published)
        each.set_title(f"figure {name.removeprefix('figure')}", fontsize=9)
        each.set_ylim(0.4, 1)
    for each in axes[::2]:
        each.set_ylabel("macro-F1", fontsize=8)
    keys(figure, axes[0], published=True)
    return svg(figure)


def _draw_entries(axes: Any, results: dict[str, Results]) -> None:
    """A row for each entry on the paper's own graphs: the published mean and deviation as a bar, ours as a marker."""
    rows = [
        (f"{column(each.case)},\n{GRAPHS[name]}", each)
        for name in GRAPHS
        for each in entries(name, results[name])
        if each.verdict is not Verdict.ELSEWHERE
    ]
    axes.set_title(f"tables 2 to 4: {len(rows)} entries", fontsize=9)
    for place, (_, each) in enumerate(rows):
        mean, std = each.published.program or (each.published.mean, each.published.std)  # as in verdicts
        axes.barh(place, max(2 * std, 0.01), left=mean - std, height=0.7, color="0.82")
        axes.plot(each.measured.mean, place, **style(each.rule) | {"linestyle": "none"})
    names = [name for name, _ in rows]
    axes.set_yticks(range(1, len(rows), 3), names[1::3])  # three rules for each graph
    axes.set_xlabel("macro-F1", fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)


def main(out: Path | None) -> None:
    """Copy the scores of a run if there is one, and write the report."""
    if out is not None:
        for name in EXPERIMENTS:
            packed = pack((out / "runs" / f"{name}.csv").read_text(encoding="utf-8"))
            (HERE / "runs" / f"{name}.csv.gz").write_bytes(packed)
    write_report(report(), HERE)
    SUMMARY.write_bytes(summary_picture(kept()))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
