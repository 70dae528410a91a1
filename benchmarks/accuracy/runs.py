"""Run methods on draws, and keep a row for each in a file as they come."""

import csv
import gzip
import io
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.accuracy.graphs import Item
from isotherm.study.methods import Method
from isotherm.study.scores import Answer, calibration_error, claims, score
from isotherm.study.tasks import Draw

__all__ = ["SLOW", "Results", "Row", "add_rows", "pack", "read_rows", "run_method", "unpack"]

SLOW = "too slow"
DIGITS = 5  # of a figure that is kept


@dataclass(frozen=True)
class Row:
    """One method on one draw; figures are NaN where there are none.

    Attributes
    ----------
    graph, protocol, draw, method
        What was run.
    accuracy, macro_f1, guessed, unlabelled, calibration_error, coverage, set_size
        As in `Score`.
    together
        The calibration error over the labels of all draws that were run at once.
    seconds
        CPU seconds, with those of what draws share, such as an embedding.
    auc
        With two classes and a confidence, the area under the ROC curve.
    status
        Empty, or why there are no scores: too slow, or the error that was raised.
    """

    graph: str
    protocol: str
    draw: int
    method: str
    accuracy: float = np.nan
    macro_f1: float = np.nan
    guessed: float = np.nan
    unlabelled: float = np.nan
    calibration_error: float = np.nan
    coverage: float = np.nan
    set_size: float = np.nan
    together: float = np.nan
    seconds: float = np.nan
    auc: float = np.nan
    status: str = ""

    @property
    def key(self) -> "Key":
        return self.graph, self.protocol, self.draw, self.method


Key: TypeAlias = tuple[str, str, int, str]
Results: TypeAlias = dict[Key, Row]


def run_method(
    item: Item, method: Method, protocol: str, draws: Iterable[tuple[int, Draw]], budget: float
) -> Iterator[Row]:
    """A row for each numbered draw; when one exceeds the budget of CPU seconds, those after it are not run."""
    answers: list[tuple[Draw, Answer]] = []
    rows: list[Row] = []
    slowest = 0.0
    for number, draw in draws:
        if slowest > budget:
            rows.append(Row(item.name, protocol, number, method.name, status=SLOW))
            continue
        try:
            found, seconds = _timed(item, method, draw)
        except Exception as error:
            rows.append(Row(item.name, protocol, number, method.name, status=f"{type(error).__name__}: {error}"))
            continue
        slowest = max(slowest, seconds)
        answers.append((draw, found))
        scores = asdict(score(draw, found))
        rows.append(Row(item.name, protocol, number, method.name, **scores, seconds=seconds, auc=_auc(draw, found)))
    together = calibration_error([claims(*pair) for pair in answers]) if answers else np.nan
    for row in rows:
        yield row if row.status else Row(**(asdict(row) | {"together": together}))


def _timed(item: Item, method: Method, draw: Draw) -> tuple[Answer, float]:
    """The answer, and its CPU seconds, as if nothing were shared with other draws."""
    costs = item.task.costs
    before, item.task.used = set(costs), set()
    began = time.process_time()
    found = method.run(item.task, draw)
    return found, time.process_time() - began + sum(costs[key] for key in item.task.used & before)


def _auc(draw: Draw, found: Answer) -> float:
    """The area under the ROC curve, by the probability of the second of two classes; NaN if there is none."""
    truth = draw.task.truth[draw.scored]
    if found.confidence is None or draw.task.n_classes != 2 or len(np.unique(truth)) != 2:
        return np.nan
    labels, confidence = found.labels[draw.scored], found.confidence[draw.scored]
    chance = np.where(labels < 0, 0.5, np.where(labels == 1, confidence, 1 - confidence))
    return float(roc_auc_score(truth, chance))


def add_rows(path: Path, rows: Iterable[Row]) -> None:
    """Add rows at the end of a file; of two rows about the same draw and method, the later one counts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([field.name for field in fields(Row)])
        writer.writerows([_text(value) for value in astuple(row)] for row in rows)


def read_rows(path: Path) -> Results:
    """The rows of a file, by graph, protocol, draw and method; none if there is no file."""
    return _parse(path.read_text(encoding="utf-8")) if path.exists() else {}


def pack(results: Results) -> bytes:
    """All rows as a compressed file; the same rows always give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    writer.writerows([_text(value) for value in astuple(results[key])] for key in sorted(results))
    return gzip.compress(text.getvalue().encode(), 9, mtime=0)


def unpack(content: bytes) -> Results:
    """The rows of a compressed file."""
    return _parse(gzip.decompress(content).decode())


def _parse(text: str) -> Results:
    kinds = {field.name: field.type for field in fields(Row)}
    rows = (
        Row(**{name: kinds[name](value) if value else _missing(kinds[name]) for name, value in line.items()})  # type: ignore[operator, arg-type]
        for line in csv.DictReader(io.StringIO(text))
    )
    return {row.key: row for row in rows}


def _missing(kind: object) -> object:
    return np.nan if kind is float else ""


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.{DIGITS}g}"
    return str(value)
