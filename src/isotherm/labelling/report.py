"""What a fit found, in words and numbers: for the summary of a command, and for the log."""

import logging
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from isotherm.labelling.fit import Fit
from isotherm.labelling.outcomes import OneLabel
from isotherm.probability.calibration import TOO_FEW
from isotherm.tables import counted

LOGGER = logging.getLogger("isotherm")


@dataclass(kw_only=True)
class Report:
    """One fit."""

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
    counts: dict[str, dict[str, int]]
    held_out: int | None = None
    calibration_error: float | None = None
    repeated_edges_counted: bool = False
    feature_columns: dict[str, str] = field(default_factory=dict)
    edge_kinds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, fit: Fit, classifier: str, seconds: dict[str, float], **more: Any) -> Self:
        """The report on a fit by a classifier of this name; computes nothing that the fit has not found so far."""
        graph, solution, outcome = fit.graph, fit.outcome.solution, fit.outcome
        if fit.taught is not None:
            more = {"held_out": fit.taught.calibration.n_held_out} | more
        if fit.evidence is not None and fit.evidence.table is not None:
            more |= {"feature_columns": {column.name: str(column) for column in fit.evidence.table.columns_}}
        return cls(
            nodes=graph.n_nodes,
            edges=graph.n_edges,
            directed=graph.directed,
            weighted=graph.weighted,
            classes=fit.seeds.n_classes,
            seeds=len(fit.seeds.nodes),
            unreached=int((~outcome.reached).sum()),
            classifier=classifier,
            rule=fit.rule.name,
            heat_alone=fit.settings.decision is not fit.rule,
            experts=_experts(fit),
            solver=solution.solver,
            iterations=solution.iterations,
            residual=float(solution.residual),
            error=float(solution.error),
            converged=bool(solution.converged),
            seconds=seconds,
            counts=_counts(fit),
            edge_kinds=dict(graph.kind_weights or {}),
            **more,
        )

    def facts(self) -> dict[str, str]:
        """For people."""
        weighted = "repeated edges count more" if self.repeated_edges_counted else "weighted"
        kind = ", ".join([*["directed"] * self.directed, *[weighted] * self.weighted])
        far = "" if self.converged else ", stopped before the tolerance"
        share = f" ({percent(self.unreached, self.nodes)} of the nodes{self._by_features()})" if self.unreached else ""
        rows = {
            "nodes": f"{self.nodes:,}",
            "edges": f"{self.edges:,}" + (f" ({kind})" if kind else ""),
            "classes": f"{self.classes:,}",
            "seeds": f"{self.seeds:,} ({percent(self.seeds, self.nodes)} of the nodes)",
            "unreached": f"{self.unreached:,}{share}",
            "solver": f"{self.solver}, {self.iterations} iterations, residual {self.residual:.1e}{far}",
            "classifier": f"{self.classifier}, {self._decided_by()}",
            "seconds": ", ".join(f"{name} {value:.2f}" for name, value in self.seconds.items()),
        }
        if self.edge_kinds:
            weights = ", ".join(f"{name} {weight:.2g}" for name, weight in self.edge_kinds.items())
            found = "all alike: no seed can be hidden" if self.held_out == 0 else "mean weights found by held-out seeds"
            rows["edge kinds"] = f"{weights} ({found})"
        if len(self.experts) > 1:
            weights = ", ".join(f"{name} {weight:.2f}" for name, weight in self.experts.items())
            found = "usual weights: no seed can be hidden" if self.held_out == 0 else "weights found by held-out seeds"
            rows["evidence"] = f"{weights} ({found})"
        if self.held_out is not None and self.classes == 1:
            rows["confidence"] = "unknown: the seeds have one class only"
        elif self.held_out:
            error = "" if self.calibration_error is None else f", expected error {self.calibration_error:.2f}"
            how = "hardly more than a guess, from" if self.held_out < TOO_FEW else "calibrated on"
            rows["confidence"] = f"{how} {counted(self.held_out, 'held-out seed')}{error}"
        elif self.held_out == 0:
            rows["confidence"] = "a guess by usual weights: no seed can be hidden"
        return rows

    def log(self) -> None:
        """Tell the logger; programs find all numbers in the attribute ``isotherm`` of the record."""
        facts = self.facts() | {f"column {name}": how for name, how in self.feature_columns.items()}
        LOGGER.info("; ".join(f"{name} {value}" for name, value in facts.items()), extra={"isotherm": asdict(self)})

    def _by_features(self) -> str:
        """Whether unreached nodes have labels by evidence other than links."""
        labelled = sum(count["result"] for count in self.counts.values())
        return ", labelled by other evidence" if labelled > self.nodes - self.unreached else ""

    def _decided_by(self) -> str:
        """What decided the labels: a decision on probabilities, or a rule on temperatures."""
        if not self.heat_alone:
            return f"decision {self.rule}"
        return f"by heat alone: rule {self.rule}" if self.classifier == "NodeClassifier" else f"rule {self.rule}"


def _experts(fit: Fit) -> dict[str, float]:
    """How much each expert counted; empty if links were all there was."""
    found = fit.experts if fit.outcome.kept and not fit.outcome.several else {}
    return found if len(found) > 1 else {}


def _counts(fit: Fit) -> dict[str, dict[str, int]]:
    """How many seeds and how many nodes each class has."""
    names, outcome = fit.seeds.classes.tolist(), fit.outcome
    if isinstance(outcome, OneLabel):
        codes = outcome.codes
        sizes = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()  # a list of all labels would be large
    else:
        sizes = outcome.labels.sum(axis=0).tolist()
    result = Counter(dict(zip(names, sizes, strict=True)))
    pairs = zip(names, fit.seeds.counts.tolist(), strict=True)
    return {str(label): {"seeds": seeds, "result": result[label]} for label, seeds in pairs}


def percent(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.1f}%"
