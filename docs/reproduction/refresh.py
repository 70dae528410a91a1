"""Make the copy of the report that is kept here: ``python docs/reproduction/refresh.py OUT SECONDS``.

OUT is the folder of a finished ``isotherm reproduce all``, which took so many seconds. The scores of all its runs are
kept in ``runs``, to six digits, and the copy is made from these, so that a test can make it again.
"""

import csv
import gzip
import io
import sys
from pathlib import Path

from isotherm.experiments.catalogue import EXPERIMENTS
from isotherm.experiments.report import Conditions, build_report, write_report
from isotherm.experiments.report.document import Document
from isotherm.experiments.results import Results, read_lines

HERE = Path(__file__).parent
DIGITS = 6


def pack(text: str) -> bytes:
    """A file of results with its scores rounded, packed; the same text always gives the same bytes."""
    lines = read_lines(text)
    rounded = io.StringIO()
    writer = csv.DictWriter(rounded, lines[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**line, "value": f"{float(line['value']):.{DIGITS}g}"} for line in lines)
    return gzip.compress(rounded.getvalue().encode(), 9, mtime=0)


def kept() -> dict[str, Results]:
    """The scores that are kept here."""
    files = {name: HERE / "runs" / f"{name}.csv.gz" for name in EXPERIMENTS}
    return {name: Results.of(read_lines(gzip.decompress(file.read_bytes()).decode())) for name, file in files.items()}


def report(seconds: float = 0) -> Document:
    """The report that they give."""
    return build_report(kept(), Conditions(runs=10, seed=0, processes=2, seconds=seconds))


def main(out: Path, seconds: float) -> None:
    """Keep the scores of a run, and write the report from them."""
    (HERE / "runs").mkdir(exist_ok=True)
    for name in EXPERIMENTS:
        packed = pack((out / "runs" / f"{name}.csv").read_text(encoding="utf-8"))
        (HERE / "runs" / f"{name}.csv.gz").write_bytes(packed)
    write_report(report(seconds), HERE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
