"""What a job did, for people and for machines."""

import json
import math
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from isotherm.classifier import DirichletClassifier

__all__ = ["Summary", "aligned", "peak_memory"]

MOST_CLASSES = 20  # in the table for people; machines get all


@dataclass
class Summary:
    """One job of ``isotherm classify``."""

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    classes: int
    seeds: int
    unreached: int
    rule: str
    solver: str
    iterations: int
    residual: float
    error: float
    converged: bool
    rows: int = 0
    output: str = ""
    layouts: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory_bytes: int = 0
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, clf: DirichletClassifier) -> "Summary":
        """The summary of a fitted classifier."""
        graph, solution = clf.graph_, clf.solution_
        return cls(
            nodes=graph.n_nodes,
            edges=graph.n_edges,
            directed=graph.directed,
            weighted=graph.weighted,
            classes=len(clf.classes_),
            seeds=len(clf.seeds_.nodes),
            unreached=int((~clf.reached_).sum()),
            rule=clf.rule,
            solver=solution.solver,
            iterations=solution.iterations,
            residual=float(solution.residual),
            error=float(solution.error),
            converged=bool(solution.converged),
            counts=_counts(clf),
        )

    def text(self) -> str:
        """For people."""
        kind = ", ".join([*["directed"] * self.directed, *["weighted"] * self.weighted])
        seconds = {**self.seconds, "in all": sum(self.seconds.values())}
        rows = {
            "nodes": f"{self.nodes:,}",
            "edges": f"{self.edges:,}" + (f" ({kind})" if kind else ""),
            "classes": f"{self.classes:,}",
            "seeds": f"{self.seeds:,}",
            "unreached": f"{self.unreached:,}",
            "solver": f"{self.solver}, {self.iterations} iterations, residual {self.residual:.1e}",
            "rule": self.rule,
            "seconds": ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()),
            "peak memory": _size(self.peak_memory_bytes),
        }
        if self.output:
            rows["written"] = f"{self.rows:,} rows to {self.output}"
        facts = aligned([[name, value] for name, value in rows.items()], left=(0, 1))
        return f"{facts}\n\n{self._class_table()}"

    def json(self) -> bytes:
        """For machines; numbers that JSON does not know are null."""
        values = {name: _finite(value) for name, value in asdict(self).items()}
        return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode(errors="surrogateescape")

    def _class_table(self) -> str:
        """Classes with their seeds and their nodes, the largest first."""
        order = sorted(self.counts, key=lambda label: -self.counts[label]["result"])
        rows = [["class", "seeds", "", "result", ""]]
        totals = {
            column: max(1, sum(count[column] for count in self.counts.values())) for column in ("seeds", "result")
        }
        for label in order[:MOST_CLASSES]:
            row = [label]
            for column, total in totals.items():
                value = self.counts[label][column]
                row += [f"{value:,}", f"{100 * value / total:.1f}%"]
            rows.append(row)
        if len(order) > MOST_CLASSES:
            rest = order[MOST_CLASSES:]
            sums = [f"{sum(self.counts[label][column] for label in rest):,}" for column in totals]
            rows.append([f"{len(rest)} more", sums[0], "", sums[1], ""])
        return aligned(rows, left=(0,))


def peak_memory() -> int:
    """The most memory that this process has held, in bytes; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def aligned(rows: list[list[str]], *, left: tuple[int, ...] = ()) -> str:
    """A table in columns, those in ``left`` flush left and the others flush right.

    >>> print(aligned([["class", "seeds"], ["tea", "2"]], left=(0,)))
    class  seeds
    tea        2
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = (f"{cell:{'<' if place in left else '>'}{widths[place]}}" for place, cell in enumerate(row))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _counts(clf: DirichletClassifier) -> dict[str, dict[str, int]]:
    """How many seeds and how many nodes each class has."""
    result = Counter(clf.labels_.tolist())
    pairs = zip(clf.classes_.tolist(), clf.seeds_.counts.tolist(), strict=True)
    return {str(label): {"seeds": seeds, "result": result[label]} for label, seeds in pairs}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _size(count: int) -> str:
    return f"{count / 2**30:.2f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"
