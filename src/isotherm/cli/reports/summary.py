"""What a job did, for people and for machines."""

import json
import math
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from isotherm.tables import aligned, bar, counted, shown

if TYPE_CHECKING:
    from isotherm.graph_classifier import GraphClassifier

__all__ = ["Summary"]

MOST_CLASSES = 20  # in the table; the JSON has all


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
    classifier: str
    rule: str
    heat_alone: bool
    experts: dict[str, float]
    solver: str
    iterations: int
    residual: float
    error: float
    converged: bool
    seconds: dict[str, float]
    peak_memory_bytes: int
    counts: dict[str, dict[str, int]]
    held_out: int | None = None
    calibration_error: float | None = None
    hidden_seeds: dict[str, float] | None = None
    rows: int = 0
    output: str = ""
    model: str = ""
    layouts: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    repeated_edges_counted: bool = False
    feature_columns: dict[str, str] = field(default_factory=dict)
    column_influence: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, clf: "GraphClassifier", seconds: dict[str, float], **more: Any) -> "Summary":
        """The summary of a fitted classifier."""
        graph, solution, outcome = clf.graph_, clf.solution_, clf.fitted_.outcome
        if clf.settings.calibration is not None and outcome.kept and not outcome.several:
            calibration = clf.fitted_.calibration
            more |= {"held_out": calibration.n_held_out, "calibration_error": calibration.error}
        table = getattr(clf, "feature_table_", None)
        if table is not None:
            more |= {"feature_columns": {column.name: str(column) for column in table.columns_}}
            more |= {"column_influence": getattr(clf, "column_influence_", {})}
        return cls(
            nodes=graph.n_nodes,
            edges=graph.n_edges,
            directed=graph.directed,
            weighted=graph.weighted,
            classes=len(clf.classes_),
            seeds=len(clf.seeds_.nodes),
            unreached=int((~clf.reached_).sum()),
            classifier=type(clf).__name__,
            rule=clf.rule_,
            heat_alone=clf.settings.decision is not clf.fitted_.rule,
            experts=_experts(clf),
            solver=solution.solver,
            iterations=solution.iterations,
            residual=float(solution.residual),
            error=float(solution.error),
            converged=bool(solution.converged),
            seconds=seconds,
            peak_memory_bytes=_peak_memory(),
            counts=_counts(clf),
            **more,
        )

    def text(self, most_classes: int = MOST_CLASSES) -> str:
        """For people."""
        weighted = "repeated edges count more" if self.repeated_edges_counted else "weighted"
        kind = ", ".join([*["directed"] * self.directed, *[weighted] * self.weighted])
        far = "" if self.converged else ", stopped before the tolerance"
        rows = {
            "nodes": f"{self.nodes:,}",
            "edges": f"{self.edges:,}" + (f" ({kind})" if kind else ""),
            "classes": f"{self.classes:,}",
            "seeds": f"{self.seeds:,} ({_percent(self.seeds, self.nodes)} of the nodes)",
            "unreached": f"{self.unreached:,}"
            + (
                f" ({_percent(self.unreached, self.nodes)} of the nodes{self._by_features()})" if self.unreached else ""
            ),
            "solver": f"{self.solver}, {self.iterations} iterations, residual {self.residual:.1e}{far}",
            "classifier": f"{self.classifier}, {self._decided_by()}",
            "seconds": ", ".join(f"{name} {value:.2f}" for name, value in self.seconds.items()),
            "peak memory": _size(self.peak_memory_bytes) if self.peak_memory_bytes else "unknown",
        }
        if len(self.experts) > 1:
            weights = ", ".join(f"{name} {weight:.2f}" for name, weight in self.experts.items())
            found = "usual weights: no seed can be hidden" if self.held_out == 0 else "weights found by held-out seeds"
            rows["evidence"] = f"{weights} ({found})"
        if self.held_out:
            error = f"expected error {self.calibration_error:.2f}"
            rows["confidence"] = f"calibrated on {self.held_out:,} held-out seeds, {error}"
        elif self.held_out == 0:
            rows["confidence"] = "a guess by usual weights: no seed can be hidden"
        if self.hidden_seeds:
            from isotherm.study.splits import HiddenAccuracy

            rows["hidden seeds"] = str(HiddenAccuracy(**self.hidden_seeds))  # type: ignore[arg-type]
        if self.output:
            rows["written"] = f"{counted(self.rows, 'row')} to {self.output}"
        if self.model:
            rows["saved"] = self.model
        facts = aligned([[name, value] for name, value in rows.items()], left=(0, 1))
        return "\n\n".join(filter(None, (facts, self._column_table(), self._class_table(most_classes))))

    def _by_features(self) -> str:
        """Whether unreached nodes have labels by something else than links."""
        labelled = sum(count["result"] for count in self.counts.values())
        return ", labelled by other evidence" if labelled > self.nodes - self.unreached else ""

    def _column_table(self) -> str:
        """How each column of the features was read, and how much it moves each expert."""
        if not self.feature_columns:
            return ""
        names = list(dict.fromkeys(name for shares in self.column_influence.values() for name in shares))
        rows = [["column", "read as", *names]]
        for column, how in self.feature_columns.items():
            shares = self.column_influence.get(column, {})
            rows.append([shown(column), how, *(f"{100 * shares[name]:.0f}%" if shares else "" for name in names)])
        return aligned(rows, left=(0, 1))

    def json(self) -> bytes:
        """For machines; infinities and NaN are null."""
        values = {name: _finite(value) for name, value in asdict(self).items()}
        return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode(errors="surrogateescape")

    def _decided_by(self) -> str:
        """What decided the labels: a decision on probabilities, or a rule on temperatures."""
        if not self.heat_alone:
            return f"decision {self.rule}"
        return f"by heat alone: rule {self.rule}" if self.classifier == "NodeClassifier" else f"rule {self.rule}"

    def _class_table(self, most: int) -> str:
        """Classes with their seeds and their nodes, the largest first."""
        order = sorted(self.counts, key=lambda label: -self.counts[label]["result"])
        seeds, result = (max(1, sum(count[column] for count in self.counts.values())) for column in ("seeds", "result"))
        rows = [["class", "seeds", "share", "result", "share", ""]]
        groups = [(shown(label), [label]) for label in order[:most]]
        if order[most:]:
            groups.append((f"{len(order) - most} more", order[most:]))
        for name, labels in groups:
            known, found = (sum(self.counts[label][column] for label in labels) for column in ("seeds", "result"))
            share = bar(found / result)
            rows.append([name, f"{known:,}", _percent(known, seeds), f"{found:,}", _percent(found, result), share])
        return aligned(rows, left=(0, 5))


def _experts(clf: "GraphClassifier") -> dict[str, float]:
    """How much each expert counted; empty if links were all there was."""
    outcome = clf.fitted_.outcome
    found = clf.fitted_.experts if outcome.kept and not outcome.several else {}
    return found if len(found) > 1 else {}


def _counts(clf: "GraphClassifier") -> dict[str, dict[str, int]]:
    """How many seeds and how many nodes each class has."""
    names, labels = clf.classes_.tolist(), clf.labels_
    if clf.fitted_.outcome.several:
        result = Counter(dict(zip(names, labels.sum(axis=0).tolist(), strict=True)))
    else:
        import numpy as np

        from isotherm.labelling.outcomes import OneLabel

        outcome = clf.fitted_.outcome
        assert isinstance(outcome, OneLabel)
        codes = outcome.codes
        sizes = np.bincount(codes[codes >= 0], minlength=len(names))  # a list of all labels would be large
        result = Counter(dict(zip(names, sizes.tolist(), strict=True)))
    pairs = zip(names, clf.seeds_.counts.tolist(), strict=True)
    return {str(label): {"seeds": seeds, "result": result[label]} for label, seeds in pairs}


def _peak_memory() -> int:
    """Peak memory of this process in bytes; 0 if the system does not tell."""
    if sys.platform == "win32":
        return 0
    if sys.platform == "linux":  # where getrusage tells the peak of the parent, if that was higher
        with open("/proc/self/status", encoding="utf-8") as status:
            return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")), 0)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%"


def _size(count: int) -> str:
    return f"{count / 2**30:.2f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"
