"""The options that several commands share, with their help, and how one option is declared, checked and read."""

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import CoercionError, Group, Parameter, Token

from isotherm.choices import (
    DecimalSign,
    DecisionName,
    EngineName,
    EvidenceName,
    MetricName,
    RuleName,
    SideName,
    SolverName,
    StopName,
)
from isotherm.cli.terminal.messages import UsageError, option_name

if TYPE_CHECKING:
    from isotherm.io.file_layout import Options

OPTIONS = Group("Options", sort_key=4)
OUTPUT = Group("Output", sort_key=1)
HIDING = Group("Hiding labels", sort_key=1)
SOLVING = Group("Solving", sort_key=2)
READING = Group("Reading the files", sort_key=3)
TABLES = Group("Tables of vectors and features", sort_key=3.5)
VARIABLES = """--help-all lists all options. Environment variables set their defaults:
ISOTHERM_MAX_ITER is for --max-iter."""

Validator: TypeAlias = Callable[[Any, Any], None]


def option(text: str, metavar: str | None = None, **more: Any) -> Parameter:
    """An option, by default without a negative form such as ``--no-x``; the metavar N means a whole number."""
    usual = {"negative": "", "show_default": _default, "converter": _whole if metavar == "N" else None}
    return Parameter(help=text, metavar=metavar, **{**usual, **more})


def _whole(_: Any, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts would read 1.5 as 1."""
    token = tokens[0]
    try:
        return int(token.value)
    except ValueError:
        raise CoercionError(token=token, target_type=int) from None


def _default(value: Any) -> Any:
    """The default that the help shows; None where it is obvious, so that nothing is shown."""
    return None if value is False or value in ("-", ()) else value


def output_option(text: str, metavar: str = "FILE") -> Parameter:
    """The option ``--output``; ``-`` stands for standard output."""
    return option(text, metavar, name=("--output", "-o"), allow_leading_hyphen=True, group=OUTPUT)


def number_option(text: str) -> Parameter:
    """The option ``--number``: how many rows a command shows."""
    return option(text, "N", name=("--number", "-n"), validator=at_least(1), group=OUTPUT)


def positional(text: str) -> Parameter:
    """An argument without a name; ``-`` stands for standard input."""
    return Parameter(help=text, allow_leading_hyphen=True)


def at_least(least: int) -> Validator:
    """Check that a number is large enough."""

    def check(_: Any, value: Any) -> None:
        if value is not None and value < least:
            raise ValueError(f"it must be at least {least}")

    return check


def between(*, above: float = -1, least: float = -1, below: float = 2, most: float = 2) -> Validator:
    """Check that a number is within limits; ``least`` and ``most`` belong to the range, the others do not."""
    low = f"above {above}" if above >= 0 else f"at least {least}"
    high = f"below {below}" if below <= 1 else f"at most {most}"

    def check(_: Any, value: Any) -> None:
        if value is not None and not (above < value < below and least <= value <= most):
            raise ValueError(f"it must be {low} and {high}")

    return check


Column: TypeAlias = str | None
Rule: TypeAlias = Literal[DecisionName, RuleName]

Edges: TypeAlias = Annotated[str, positional("The graph: a file of edges, a matrix or a folder; - for standard input.")]
Labels: TypeAlias = Annotated[str, positional("Known labels: a table of nodes and labels; - for standard input.")]
LabelsOrInside: TypeAlias = Annotated[
    str | None, positional("Known labels: a table of nodes and labels; by default labels inside the graph file.")
]
Output: TypeAlias = Annotated[str, output_option("File for the table; by default standard output.")]
OutputFormat: TypeAlias = Annotated[
    str | None, option("csv, tsv, jsonl, parquet, arrow or xlsx; overrides the suffix.", "NAME", group=OUTPUT)
]
Folder: TypeAlias = Annotated[
    str, option("Folder for what is written.", "DIR", name=("--output", "-o", "--out"), group=OUTPUT)
]
Quiet: TypeAlias = Annotated[bool, option("Print nothing but errors.", name=("--quiet", "-q"), group=OUTPUT)]
Strict: TypeAlias = Annotated[
    bool, option("Exit with status 3 if there are warnings; the output is written.", group=OUTPUT)
]
Force: TypeAlias = Annotated[bool, option("Replace files that exist; otherwise they are kept.", group=OUTPUT)]


Json: TypeAlias = Annotated[bool, option("Print JSON, with all digits.", group=OUTPUT)]
Fraction: TypeAlias = Annotated[
    float, option("Share of the labels that is shown.", "X", validator=between(above=0, below=1), group=HIDING)
]
Runs: TypeAlias = Annotated[int, option("Number of draws.", "N", validator=at_least(1), group=HIDING)]
RandomState: TypeAlias = Annotated[int, option("Seed of the random draws.", "N", validator=at_least(0), group=HIDING)]
IgnoreMissing: TypeAlias = Annotated[bool, option("Ignore labels that are not in the graph.", group=OPTIONS)]


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class TableFormat:
    """How a table is written."""

    output_format: OutputFormat = None
    force: Force = False
    safe_cells: Annotated[
        bool, option("In csv and tsv, put ' before text that a spreadsheet would run as a formula.")
    ] = False


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class ScoreOutput:
    """Where the scores of hidden labels go, and how they are printed."""

    json: Annotated[bool, option("Print JSON, with the scores of each draw.")] = False
    latex: Annotated[bool, option("Print the table of scores in LaTeX.")] = False
    output: Annotated[str | None, output_option("Write a table with a row for each rule or method, and draw.")] = None
    output_format: OutputFormat = None
    plot: Annotated[str | None, option("Draw the scores, and more: .png, .pdf or .svg.", "FILE")] = None
    force: Force = False

    @property
    def fills_stdout(self) -> bool:
        """Whether standard output is for machines, and no text is printed on it."""
        return self.json or self.latex or self.output == "-"


@dataclass(frozen=True)
class _Target:
    output: Output = "-"


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class Results(TableFormat, _Target):  # in this order, help lists --output first
    """Where the labels of all nodes go, and what is written about them."""

    probabilities: Annotated[bool, option("Add a column of probabilities for each class.")] = False
    temperatures: Annotated[bool, option("Add a column of temperatures for each class.")] = False
    only_unlabelled: Annotated[bool, option("Leave out the seeds.")] = False
    min_confidence: Annotated[
        float | None, option("Leave out nodes of lower confidence.", "X", validator=between(least=0, most=1))
    ] = None
    json_summary: Annotated[
        str | None, option("Write what --json prints to a file.", "FILE", allow_leading_hyphen=True)
    ] = None
    json: Annotated[bool, option("Print JSON: the summary. The table then needs --output FILE.")] = False
    save: Annotated[
        str | None, option("Save the fitted classifier to a .npz file, which other commands take as MODEL.", "MODEL")
    ] = None

    @property
    def wanted(self) -> dict[str, Any]:
        """Which columns and rows are written, besides confidence."""
        names = ("probabilities", "temperatures", "only_unlabelled", "min_confidence")
        return {name: getattr(self, name) for name in names}


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class EdgeReading:
    """How files of edges are laid out; what is not given is detected and printed."""

    directed: Annotated[
        bool | None,
        option("Whether edges are directed; by default as the file says, else undirected.", negative="--undirected"),
    ] = None
    weight: Annotated[Column, option("Column of weights, by name or by number from 1.", "COL")] = None
    unweighted: Annotated[bool, option("Ignore all weights.")] = False
    source: Annotated[Column, option("Column where edges begin.", "COL")] = None
    target: Annotated[Column, option("Column where edges end.", "COL")] = None
    delimiter: Annotated[str | None, option("Column separator: a character, tab or whitespace.", "CHAR")] = None
    header: Annotated[bool | None, option("Whether the first row names the columns.", negative="--no-header")] = None
    format: Annotated[str | None, option("Format of the edges; overrides the suffix.", "NAME")] = None
    encoding: Annotated[str | None, option("Encoding of text, such as cp1252; by default UTF-8.", "NAME")] = None
    thousands: Annotated[bool, option("Commas set off thousands in numbers, as in 1,033.17.")] = False
    decimal: Annotated[
        DecimalSign | None, option("Decimal sign: a comma to read 1.033,17.", "CHAR", show_choices=False)
    ] = None

    def for_edges(self) -> dict[str, Any]:
        """Arguments of `pack_edges`."""
        if self.unweighted and self.weight is not None:
            raise UsageError(f"--unweighted and --weight {self.weight} contradict each other: give one of them")
        names = ("directed", "source", "target", "thousands", "decimal")
        weight = False if self.unweighted else self.weight
        return {"weight": weight, **{name: getattr(self, name) for name in names}, **self.written}

    @property
    def written(self) -> dict[str, Any]:
        """How the text of a file is written, and its format."""
        return {name: getattr(self, name) for name in ("delimiter", "header", "format", "encoding")}


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class LabelReading:
    """How files of labels are laid out; what is not given is detected, and printed."""

    node: Annotated[Column, option("Column of nodes, in the table of known labels.", "COL")] = None
    label: Annotated[Column, option("Column of labels, in the table of known labels.", "COL")] = None
    labels_delimiter: Annotated[str | None, option("Like --delimiter, for the known labels.", "CHAR")] = None
    labels_header: Annotated[
        bool | None, option("Like --header, for the known labels.", negative="--no-labels-header")
    ] = None
    labels_format: Annotated[str | None, option("Like --format, for the known labels.", "NAME")] = None
    labels_encoding: Annotated[str | None, option("Like --encoding, for the known labels.", "NAME")] = None
    normalise_labels: Annotated[bool, option("Treat labels that differ only by case or blanks as one.")] = False
    unknown: Annotated[str | None, option("Further words that mean no label, such as unsure,pending.", "A,B")] = None
    more_seeds: Annotated[
        tuple[str, ...],
        option("A further table of known labels, which wins over earlier ones.", "FILE", allow_leading_hyphen=True),
    ] = ()

    def for_labels(self) -> dict[str, Any]:
        """Arguments of `LabelOptions`."""
        written = {name: getattr(self, f"labels_{name}") for name in ("delimiter", "header", "format", "encoding")}
        meant = {"normalise_labels": self.normalise_labels, "unknown": tuple(listed(self.unknown or ""))}
        return {"node": self.node, "label": self.label, **meant, **written}


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class Reading(LabelReading, EdgeReading):
    """How the files are laid out; what is not given is detected, and printed."""

    more_edges: Annotated[
        tuple[str, ...], option("A further file of edges; may be repeated.", "FILE", allow_leading_hyphen=True)
    ] = ()
    max_graph_memory: Annotated[
        str | None, option("Memory for the graph, such as 4GB; by default what is free.", "SIZE")
    ] = None
    edge_kind: Annotated[
        Column, option("Column of kinds of edges; hidden seeds find a weight for each kind.", "COL")
    ] = None
    neighbors_key: Annotated[str | None, option("In .h5ad files, which neighbour graph of the cells.", "NAME")] = None

    def for_labels(self) -> dict[str, Any]:
        """Arguments of `LabelOptions`; labels have the encoding of the edges, unless theirs is given."""
        return {**super().for_labels(), "encoding": self.labels_encoding or self.encoding}

    def for_graph(self, id_column: Column) -> "Options":
        """Arguments of `read_graph_file`, except the format."""
        from isotherm.io.file_layout import Options

        most = None if self.max_graph_memory is None else in_bytes(self.max_graph_memory, "--max-graph-memory")
        given = {name: value for name, value in self.for_edges().items() if name != "format"}
        given |= {name: getattr(self, name) for name in ("neighbors_key", "edge_kind")}
        return Options(**given, max_memory=most, id=id_column)


@Parameter(name="*", group=READING)
@dataclass(frozen=True)
class LabelKinds:
    """What the file of labels holds beyond one certain label for each node."""

    seed_weight: Annotated[Column, option("Column of seed weights: how much each label is trusted.", "COL")] = None
    label_probability: Annotated[
        Column, option("Column of probabilities, with a row for each label that a node may have.", "COL")
    ] = None
    multi_label: Annotated[bool, option("Nodes have several labels, each in its own row.")] = False

    def for_labels(self) -> dict[str, Any]:
        """Further arguments of `LabelOptions`."""
        if self.multi_label and self.label_probability is not None:
            raise UsageError("--multi-label and --label-probability exclude each other: give one of them")
        return {"seed_weight": self.seed_weight, "probability": self.label_probability, "several": self.multi_label}


@Parameter(name="*", group=SOLVING)
@dataclass(frozen=True)
class Solving:
    """Which solver finds the temperatures."""

    solver: Annotated[SolverName, option("Which solver finds the temperatures.", "NAME")] = "auto"
    tol: Annotated[
        float,
        option("Largest error of a temperature, relative to their spread.", "X", validator=between(above=0, below=1)),
    ] = 1e-3
    max_iter: Annotated[int | None, option("Maximum number of iterations.", "N", validator=at_least(1))] = None
    side: Annotated[
        Literal["auto", SideName],
        option(
            "How a directed graph is read: seeds on one or both copies of a node, arcs as edges, or walks along arcs.",
            "NAME",
        ),
    ] = "auto"
    engine: Annotated[EngineName, option("Where to solve: here, or on a Dask cluster.", "NAME")] = "local"
    scheduler: Annotated[
        str | None, option("Address of the Dask scheduler; by default --engine dask starts processes here.", "ADDRESS")
    ] = None
    stop: Annotated[
        StopName,
        option("With a rule on temperatures: stop at the tolerance, or when labels can no longer change.", "NAME"),
    ] = "error"
    open_share: Annotated[
        float,
        option(
            "Share of labels that may still change when --stop labels stops.", "X", validator=between(least=0, below=1)
        ),
    ] = 0.05
    threshold: Annotated[
        str, option("With --multi-label, the temperature from which a node has a label: auto, rule or a number.", "X")
    ] = "auto"
    max_memory: Annotated[
        str | None,
        option("Memory for temperatures and scores, such as 4GB; by default a quarter of the machine's.", "SIZE"),
    ] = None
    no_confidence: Annotated[
        bool, option("With a rule on temperatures: leave out confidence, which saves up to three solves.")
    ] = False
    threads: Annotated[int | None, option("Number of threads; by default all cores.", "N", validator=at_least(1))] = (
        None
    )

    def for_classifier(self) -> dict[str, Any]:
        """Parameters of both classifiers; each has its own default for the side."""
        return {
            **{name: getattr(self, name) for name in ("solver", "tol", "max_iter", "engine")},
            **({} if self.side == "auto" else {"side": self.side}),
            "n_threads": self.threads,
            "threshold": threshold_of(self.threshold),
            "max_memory": None if self.max_memory is None else in_bytes(self.max_memory),
        }

    def for_temperatures(self) -> dict[str, Any]:
        """Further parameters of `DirichletClassifier`."""
        calibration = None if self.no_confidence else "auto"
        return {"calibration": calibration, "stop": self.stop, "open_share": self.open_share}


@Parameter(name="*", group=TABLES)
@dataclass(frozen=True)
class FeatureOptions:
    """A table of what is known about the nodes of a graph."""

    features: Annotated[str | None, option("Table with more columns about the nodes of a graph.", "FILE")] = None
    feature_columns: Annotated[
        str | None, option("Columns of --features to use; by default all but ids and constant ones.", "A,B")
    ] = None
    ignore_columns: Annotated[str | None, option("Columns of --features to leave out.", "A,B")] = None
    text: Annotated[
        Column, option("Column of texts, compared by their words; without --features it implies --vectors.", "COL")
    ] = None
    id: Annotated[
        Column, option("Column of ids in a table; in GraphML, GEXF and GML files, attribute of nodes.", "COL")
    ] = None
    nodes: Annotated[str | None, option("Table of nodes, to add those without edges.", "FILE")] = None

    @property
    def graph_id(self) -> Column:
        """The node attribute that holds the ids in the file of a graph; None if ``--id`` names a column of a table."""
        return self.id if self.features is None else None

    @property
    def inputs(self) -> list[str]:
        """The files that are named."""
        return [name for name in (self.features, self.nodes) if name is not None]

    def check(self) -> None:
        """Refuse options about features where there are none."""
        for name in ("feature_columns", "ignore_columns"):
            if self.features is None and getattr(self, name) is not None:
                raise UsageError(f"{option_name(name)} is about features: name their file with --features")

    def beside_links(self) -> "VectorOptions":
        """These options for a command that takes no table in place of a graph."""
        self.check()
        if self.text is not None and self.features is None:
            raise UsageError("--text is about features: name their file with --features")
        return VectorOptions(**{field.name: getattr(self, field.name) for field in fields(FeatureOptions)})

    def for_columns(self) -> dict[str, Any]:
        """Arguments of `FeatureTable`."""
        columns, ignored = (
            None if text is None else listed(text) for text in (self.feature_columns, self.ignore_columns)
        )
        return {"columns": columns, "ignore": ignored or ()}


@Parameter(name="*", group=TABLES)
@dataclass(frozen=True)
class VectorOptions(FeatureOptions):
    """A table in place of a graph, whose rows are joined to their nearest rows; or a table of features for a graph."""

    vectors: Annotated[bool, option("The first file is a table; its rows are joined to their nearest rows.")] = False
    k: Annotated[int, option("Number of neighbours of each row.", "N", validator=at_least(1))] = 10
    metric: Annotated[
        MetricName | None, option("How rows are compared; by default euclidean, and cosine for texts.", "NAME")
    ] = None
    scale: Annotated[bool, option("Divide each column by its standard deviation.")] = False

    @property
    def wanted(self) -> bool:
        """Whether the first file is a table."""
        if self.features is not None and self.vectors:
            raise UsageError("--features is for the nodes of a graph, and --vectors for rows without one: give one")
        return self.vectors or (self.text is not None and self.features is None)

    def for_graph(self) -> dict[str, Any]:
        """Arguments of `Graph.from_vectors`."""
        usual = "euclidean" if self.text is None else "cosine"
        return {"k": self.k, "metric": self.metric or usual, "scale": self.scale}


@Parameter(name="*")
@dataclass(frozen=True)
class Fitting:
    """How a classifier is fitted on a file of edges and a file of labels."""

    rule: Annotated[
        Rule,
        option(
            "How labels are decided: by probabilities (the first two) or temperatures (the others)",
            "NAME",
            group=SOLVING,
        ),
    ] = "balanced"
    class_weight: Annotated[
        tuple[str, ...],
        option("Let a class count more, such as fraud=5 for five times; may be repeated.", "LABEL=X", group=SOLVING),
    ] = ()
    class_sizes: Annotated[
        tuple[str, ...],
        option("Known shares of classes among all nodes, such as fraud=0.02,bot=0.1.", "LABEL=X", group=SOLVING),
    ] = ()
    evidence: Annotated[
        Literal[EvidenceName, "none"],
        option(
            "What counts besides heat, by default the spectrum of the graph and its degrees.", "NAME", group=SOLVING
        ),
    ] = "auto"
    solving: Solving = Solving()
    ignore_missing_seeds: Annotated[bool, option("Ignore seeds that are not in the graph.", group=SOLVING)] = False
    reading: Reading = Reading()
    kinds: LabelKinds = LabelKinds()
    table: VectorOptions = VectorOptions()


def names_of(*groups: type[Any]) -> list[str]:
    """The names of the options in some groups."""
    return [field.name for group in groups for field in fields(group)]


# Options about a graph without seeds, or about the table that it is made of.
UNSEEDED = (*names_of(EdgeReading, VectorOptions), "more_edges", "max_graph_memory", "neighbors_key")


def listed(text: str) -> list[str]:
    """The parts between commas; one with a comma in it is quoted.

    >>> listed('age, "street, town"')
    ['age', 'street, town']
    """
    return [part.strip() for row in csv.reader([text], skipinitialspace=True) for part in row if part.strip()]


NEGATIVES = {"directed": "undirected", "header": "no_header", "labels_header": "no_labels_header"}


def changed_options(given: Any, *, allowed: Iterable[str] = ()) -> Iterator[str]:
    """The options of a group, and of the groups in it, that do not have their default; ``allowed`` are left out.

    >>> list(changed_options(Fitting(rule="vanilla", solving=Solving(tol=0.1, threads=1)), allowed=["threads"]))
    ['rule', 'tol']
    """
    for field in fields(given):
        value = getattr(given, field.name)
        if is_dataclass(value):
            yield from changed_options(value, allowed=allowed)
        elif value != field.default and field.name not in allowed:
            yield NEGATIVES[field.name] if value is False else field.name


def leave_out(name: str) -> str:
    """The advice to remove an option, which was given as an argument or in the environment.

    >>> leave_out("max_iter")
    'leave out --max-iter'
    """
    variable = f"ISOTHERM_{name.upper()}"
    return f"unset {variable}" if variable in os.environ else f"leave out {option_name(name)}"


MEANINGS = {  # an example, the largest number, and its name in a sentence
    "class_weight": ("5", math.inf, "weight must be a positive number"),
    "class_sizes": ("0.02", 1.0, "share must be above 0 and at most 1"),
}


def numbers_by_label(name: str, texts: Sequence[str], labels: Iterable[Any]) -> dict[Any, float] | None:
    """Numbers that an option gives for classes, by their labels; several in one text are separated by commas.

    >>> numbers_by_label("class_weight", ["1=5", "a=b=2"], [1, "a=b"])
    {1: 5.0, 'a=b': 2.0}
    >>> numbers_by_label("class_sizes", ["x=0.1,y=0.2", "p,q=0.5"], ["x", "y", "p,q"])
    {'x': 0.1, 'y': 0.2, 'p,q': 0.5}
    """
    known = {str(label): label for label in labels}
    example, most, rule = MEANINGS[name]
    found = {}
    for text in texts:
        for part in [text] if text.rpartition("=")[0] in known else text.split(","):
            label, _, number = part.rpartition("=")
            if label not in known:
                first = next(iter(known), "fraud")
                remedy = f"give LABEL=X with a label of the seeds, such as {first}={example}"
                raise UsageError(f"{option_name(name)} {part}: {remedy}")
            with suppress(ValueError):
                found[known[label]] = float(number)
            if not (0 < found.get(known[label], 0) <= most and found[known[label]] < math.inf):
                raise UsageError(f"{option_name(name)} {part}: the {rule}, as in {label}={example}")
    return found or None


def threshold_of(text: str) -> str | float | None:
    """A threshold; None for the threshold of the rule.

    >>> threshold_of("auto"), threshold_of("rule"), threshold_of("0.25")
    ('auto', None, 0.25)
    """
    if text in ("auto", "rule"):
        return text if text == "auto" else None
    with suppress(ValueError):
        if 0 <= float(text) < 1:
            return float(text)
    raise UsageError(f"--threshold is {text}: give auto, rule, or a number from 0 to 1")


def in_bytes(size: str, name: str = "--max-memory") -> int:
    """A size with its unit.

    >>> in_bytes("1.5 GB"), in_bytes("2000")
    (1610612736, 2000)
    """
    parts = re.fullmatch(r"([\d.]+) ?([KMGT]?)i?B?", size, re.IGNORECASE)
    with suppress(ValueError):
        if parts and float(parts[1]):
            return int(float(parts[1]) * 1024 ** " KMGT".index(parts[2].upper() or " "))
    raise UsageError(f"{name} is {size}: give a size such as 500MB or 4GB")
