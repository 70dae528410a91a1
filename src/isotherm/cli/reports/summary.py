"""What a job did, for people and for machines."""

import json
import math
import sys
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from isotherm.labelling.report import Report, percent
from isotherm.tables import aligned, bar, counted, shown, size

if TYPE_CHECKING:
    from isotherm.graph_classifier import GraphClassifier

MOST_CLASSES = 20  # in the table; the JSON has all


@dataclass(kw_only=True)
class Summary(Report):
    """One job of ``isotherm classify``."""

    peak_memory_bytes: int
    hidden_seeds: dict[str, float] | None = None
    rows: int = 0
    output: str = ""
    model: str = ""
    layouts: dict[str, str] = field(default_factory=dict)
    columns_read: dict[str, dict[str, str | int | None]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    column_influence: dict[str, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of_classifier(cls, clf: "GraphClassifier", seconds: dict[str, float], **more: Any) -> "Summary":
        """The summary of a fitted classifier."""
        fit = clf.fitted_
        if clf.settings.calibration is not None and fit.outcome.kept and not fit.outcome.several:
            more |= {"held_out": fit.calibration.n_held_out, "calibration_error": fit.calibration.error}
        if getattr(clf, "feature_table_", None) is not None:
            more |= {"column_influence": getattr(clf, "column_influence_", {})}
        return cls.of(fit, type(clf).__name__, seconds, peak_memory_bytes=_peak_memory(), **more)

    def text(self, most_classes: int = MOST_CLASSES) -> str:
        """For people."""
        rows = self.facts()
        if self.hidden_seeds:
            from isotherm.study.splits import HiddenAccuracy

            rows["hidden seeds"] = str(HiddenAccuracy(**self.hidden_seeds))  # type: ignore[arg-type]
        if self.output:
            rows["written"] = f"{counted(self.rows, 'row')} to {self.output}"
        if self.model:
            rows["saved"] = self.model
        facts = aligned([[name, value] for name, value in rows.items()], left=(0, 1))
        return "\n\n".join(filter(None, (facts, self._column_table(), self._class_table(most_classes))))

    def facts(self) -> dict[str, str]:
        """The facts of the fit, and its peak memory."""
        memory = {"peak memory": size(self.peak_memory_bytes) if self.peak_memory_bytes else "unknown"}
        found = list(super().facts().items())
        place = [name for name, _ in found].index("seconds") + 1
        return dict([*found[:place], *memory.items(), *found[place:]])

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
            rows.append([name, f"{known:,}", percent(known, seeds), f"{found:,}", percent(found, result), share])
        return aligned(rows, left=(0, 5))


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
