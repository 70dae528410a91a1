"""The options that several commands share, with their help."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from cyclopts import CoercionError, Group, Parameter, Token
from cyclopts.validators import Number

from isotherm.cli.wording import UsageError

__all__ = [
    "AS_FOUND",
    "BY_DEFAULT",
    "CERTAIN",
    "OPTIONS",
    "OUTPUT",
    "SOLVING",
    "VARIABLES",
    "Certainty",
    "Columns",
    "Edges",
    "Force",
    "Labels",
    "Missing",
    "Output",
    "OutputFormat",
    "Quiet",
    "Rule",
    "Solving",
    "option",
    "positional",
]

OPTIONS = Group("Options", sort_key=4)
OUTPUT = Group("Output", sort_key=1)
SOLVING = Group("Solving", sort_key=2)
READING = Group("Reading the files", sort_key=3)
VARIABLES = "Options take defaults from the environment: --max-iter from ISOTHERM_MAX_ITER."

Rule: TypeAlias = Literal["centered", "relative", "vanilla", "weighted", "auto"]
Solver: TypeAlias = Literal["auto", "cg", "direct", "elimination", "sweeps"]
Side: TypeAlias = Literal["both", "source"]


def option(text: str, metavar: str | None = None, **more: Any) -> Parameter:
    """An option, which has no negative form unless it is given one; if it takes N, that is a whole number."""
    usual = {"negative": "", "show_default": _default, "converter": _whole if metavar == "N" else None}
    return Parameter(help=text, metavar=metavar, **{**usual, **more})


def _whole(_: Any, tokens: Sequence[Token]) -> int:
    """A whole number: else 1.5 would be taken for 1."""
    token = tokens[0]
    try:
        return int(token.value)
    except ValueError:
        raise CoercionError(token=token, target_type=int) from None


def _default(value: Any) -> Any:
    """What help says of a default: nothing where it goes without saying."""
    return None if value is False or value == "-" else value


def positional(text: str) -> Parameter:
    """An argument without a name; ``-`` stands for standard input."""
    return Parameter(help=text, allow_leading_hyphen=True)


Edges: TypeAlias = Annotated[str, positional("The graph: a file of edges or a matrix; - for standard input.")]
Labels: TypeAlias = Annotated[str, positional("Known labels: a table of nodes and labels; - for standard input.")]
Output: TypeAlias = Annotated[
    str,
    option(
        "Where the table goes; by default to standard output.",
        "FILE",
        name=("--output", "-o"),
        allow_leading_hyphen=True,
        group=OUTPUT,
    ),
]
OutputFormat: TypeAlias = Annotated[
    str | None, option("csv, tsv, jsonl, parquet or arrow, in place of the suffix.", "NAME", group=OUTPUT)
]
Quiet: TypeAlias = Annotated[bool, option("Print nothing but errors.", name=("--quiet", "-q"), group=OUTPUT)]
Force: TypeAlias = Annotated[bool, option("Replace files that exist; they are kept otherwise.", group=OUTPUT)]
Missing: TypeAlias = Annotated[bool, option("Go on without seeds that are not in the graph.", group=SOLVING)]
Column: TypeAlias = str | None


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Columns:
    """How the files are laid out: what is not given is found out, and printed."""

    directed: Annotated[
        bool | None,
        option("Edges are arcs, or not; by default what the file says, else not.", negative="--undirected"),
    ] = None
    weight: Annotated[Column, option("Column of weights, by name or by number from 1.", "COL")] = None
    unweighted: Annotated[bool, option("Read all weights as one.")] = False
    source: Annotated[Column, option("Column where edges begin.", "COL")] = None
    target: Annotated[Column, option("Column where edges end.", "COL")] = None
    delimiter: Annotated[str | None, option("What parts columns: a character, tab or whitespace.", "CHAR")] = None
    header: Annotated[bool | None, option("The first row names columns, or does not.", negative="--no-header")] = None
    format: Annotated[str | None, option("Format of the edges, in place of the suffix.", "NAME")] = None
    node: Annotated[Column, option("Column of nodes in the file of labels.", "COL")] = None
    label: Annotated[Column, option("Column of labels.", "COL")] = None
    labels_delimiter: Annotated[str | None, option("As --delimiter, for the file of labels.", "CHAR")] = None
    labels_header: Annotated[
        bool | None, option("As --header, for the file of labels.", negative="--no-labels-header")
    ] = None
    labels_format: Annotated[str | None, option("As --format, for the file of labels.", "NAME")] = None

    @property
    def of_edges(self) -> dict[str, Any]:
        """What `read_graph` is told."""
        if self.unweighted and self.weight is not None:
            raise UsageError(f"--unweighted and --weight {self.weight} contradict each other: give one of them")
        return {
            "directed": self.directed,
            "source": self.source,
            "target": self.target,
            "weight": False if self.unweighted else self.weight,
            "delimiter": self.delimiter,
            "header": self.header,
            "format": self.format,
        }

    @property
    def of_labels(self) -> dict[str, Any]:
        """What `read_seeds` is told."""
        return {
            "node": self.node,
            "label": self.label,
            "delimiter": self.labels_delimiter,
            "header": self.labels_header,
            "format": self.labels_format,
        }


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Certainty:
    """What the file of labels says besides one certain label for each node."""

    seed_weight: Annotated[Column, option("Column of weights: how far each label is trusted.", "COL")] = None
    label_probability: Annotated[
        Column, option("Column of probabilities, with a row for each label that a node may have.", "COL")
    ] = None
    multi_label: Annotated[bool, option("Nodes have several labels, in a row each.")] = False

    @property
    def of_labels(self) -> dict[str, Any]:
        """What `read_seeds_file` is told besides."""
        if self.multi_label and self.label_probability is not None:
            raise UsageError("--multi-label and --label-probability exclude each other: give one of them")
        return {"seed_weight": self.seed_weight, "probability": self.label_probability, "several": self.multi_label}


@Parameter(name="*", group=SOLVING)
@dataclass(frozen=True)
class Solving:
    """How equilibrium is found."""

    solver: Annotated[Solver, option("How equilibrium is found.", "NAME")] = "auto"
    tol: Annotated[
        float,
        option("Largest error of a temperature, relative to their spread.", "X", validator=Number(gt=0, lt=1)),
    ] = 1e-3
    max_iter: Annotated[int | None, option("Most iterations allowed.", "N", validator=Number(gte=1))] = None
    side: Annotated[
        Side, option("On which copies of a node of a directed graph seeds are held and labels read.", "NAME")
    ] = "both"
    engine: Annotated[Literal["local"], option("Where to solve.", "NAME")] = "local"
    stop: Annotated[
        Literal["error", "labels"], option("When to end: at the tolerance, or when labels are certified.", "NAME")
    ] = "error"
    open_share: Annotated[
        float, option("Share of labels that --stop labels may leave open.", "X", validator=Number(gte=0, lt=1))
    ] = 0.05
    threshold: Annotated[
        str, option("Temperature above which a node has one of several labels: auto, rule or a number.", "X")
    ] = "auto"
    max_memory: Annotated[
        str | None, option("For temperatures and scores, as 4GB; by default a quarter of all.", "SIZE")
    ] = None
    no_confidence: Annotated[bool, option("Find labels only, and save the three solves of confidence.")] = False
    threads: Annotated[int | None, option("Number of threads; by default all cores.", "N", validator=Number(gte=1))] = (
        None
    )

    @property
    def of_classifier(self) -> dict[str, Any]:
        """What `DirichletClassifier` is told."""
        return {
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "side": self.side,
            "engine": self.engine,
            "n_threads": self.threads,
            "stop": self.stop,
            "open_share": self.open_share,
            "threshold": _threshold(self.threshold),
            "calibration": None if self.no_confidence else "auto",
            "max_memory": None if self.max_memory is None else _bytes(self.max_memory),
        }


def _threshold(told: str) -> str | float | None:
    """A threshold, or where it comes from.

    >>> _threshold("auto"), _threshold("rule"), _threshold("0.25")
    ('auto', None, 0.25)
    """
    if told in ("auto", "rule"):
        return told if told == "auto" else None
    with suppress(ValueError):
        if 0 <= float(told) < 1:
            return float(told)
    raise UsageError(f"--threshold is {told}: give auto, rule, or a number from 0 to 1")


def _bytes(size: str) -> int:
    """A size with its unit.

    >>> _bytes("1.5 GB"), _bytes("2000")
    (1610612736, 2000)
    """
    told = re.fullmatch(r"([\d.]+) ?([KMGT]?)i?B?", size, re.IGNORECASE)
    with suppress(ValueError):
        if told and float(told[1]):
            return int(float(told[1]) * 1024 ** " KMGT".index(told[2].upper() or " "))
    raise UsageError(f"--max-memory is {size}: give a size such as 500MB or 4GB")


AS_FOUND = Columns()
CERTAIN = Certainty()
BY_DEFAULT = Solving()
