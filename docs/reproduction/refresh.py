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

from isotherm.paper.document import Document
from isotherm.paper.experiment import Results, read_lines
from isotherm.paper.report import Conditions, build_report, write_report
from isotherm.paper.runner import EXPERIMENTS

HERE = Path(__file__).parent
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


def main(out: Path | None) -> None:
    """Copy the scores of a run if there is one, and write the report."""
    if out is not None:
        for name in EXPERIMENTS:
            packed = pack((out / "runs" / f"{name}.csv").read_text(encoding="utf-8"))
            (HERE / "runs" / f"{name}.csv.gz").write_bytes(packed)
    write_report(report(), HERE)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
