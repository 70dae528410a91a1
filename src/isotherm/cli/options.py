"""The options that several commands share, with their help and their environment variables."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from cyclopts import Group, Parameter
from cyclopts.validators import Number

__all__ = [
    "AS_FOUND",
    "BY_DEFAULT",
    "OUTPUT",
    "SOLVING",
    "Columns",
    "Edges",
    "Labels",
    "Quiet",
    "Rule",
    "Solving",
    "option",
    "positional",
]

COLUMNS = Group("Reading the files", sort_key=3)
SOLVING = Group("Solving", sort_key=2)
OUTPUT = Group("Output", sort_key=1)

Rule: TypeAlias = Literal["centered", "relative", "vanilla", "weighted"]
Solver: TypeAlias = Literal["auto", "cg", "direct", "elimination", "sweeps"]
Side: TypeAlias = Literal["both", "source"]


def option(text: str, env: str | None = None, **more: Any) -> Parameter:
    """An option whose default may come from the environment variable ``ISOTHERM_<env>``."""
    variable = None if env is None else f"ISOTHERM_{env}"
    return Parameter(help=text, env_var=variable, **{"negative": "", "show_default": _default, **more})


def _default(value: Any) -> Any:
    """What help says of a default: nothing where it goes without saying."""
    return None if value is False or value == "-" else value


def positional(text: str) -> Parameter:
    """An argument without a name; ``-`` stands for standard input."""
    return Parameter(help=text, allow_leading_hyphen=True)


Edges: TypeAlias = Annotated[str, positional("The graph: a file of edges or a matrix, or - for standard input.")]
Labels: TypeAlias = Annotated[str, positional("Known labels: a table with a node and a label in each row, or -.")]
Quiet: TypeAlias = Annotated[bool, option("Print nothing but errors.", "QUIET", name=("--quiet", "-q"), group=OUTPUT)]


@Parameter(name="*", group=COLUMNS)
@dataclass(frozen=True)
class Columns:
    """How the files are laid out: what is not given is found out, and printed."""

    directed: Annotated[
        bool | None,
        option("Whether edges are arcs; by default what the file says, or no.", "DIRECTED", negative="--undirected"),
    ] = None
    weight: Annotated[str | None, option("Column of weights, by name or by number from 1.", metavar="COL")] = None
    unweighted: Annotated[bool, option("Read all weights as one.")] = False
    source: Annotated[str | None, option("Column where edges begin.", metavar="COL")] = None
    target: Annotated[str | None, option("Column where edges end.", metavar="COL")] = None
    node: Annotated[str | None, option("Column of nodes in the file of labels.", metavar="COL")] = None
    label: Annotated[str | None, option("Column of labels.", metavar="COL")] = None
    delimiter: Annotated[str | None, option("What parts the columns of edges: a character, tab or whitespace.")] = None
    header: Annotated[
        bool | None, option("Whether the first row of edges names the columns.", negative="--no-header")
    ] = None
    format: Annotated[str | None, option("Format of the edges, in place of the suffix.")] = None
    labels_delimiter: Annotated[str | None, option("The same for the file of labels.")] = None
    labels_header: Annotated[bool | None, option("The same for the file of labels.", negative="--no-labels-header")] = (
        None
    )
    labels_format: Annotated[str | None, option("The same for the file of labels.")] = None

    @property
    def of_edges(self) -> dict[str, Any]:
        """What `read_graph` is told."""
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


@Parameter(name="*", group=SOLVING)
@dataclass(frozen=True)
class Solving:
    """How equilibrium is found."""

    solver: Annotated[Solver, option("How equilibrium is found.", "SOLVER")] = "auto"
    tol: Annotated[
        float,
        option("Largest error of a temperature, relative to their spread.", "TOL", validator=Number(gt=0, lt=1)),
    ] = 1e-3
    max_iter: Annotated[int | None, option("Most iterations allowed.", "MAX_ITER", validator=Number(gte=1))] = None
    side: Annotated[
        Side, option("For directed graphs: on which copies of a node seeds are held and labels are read.", "SIDE")
    ] = "both"
    engine: Annotated[Literal["local"], option("Where to solve.", "ENGINE")] = "local"
    threads: Annotated[
        int | None, option("Number of threads; by default all cores.", "THREADS", validator=Number(gte=1))
    ] = None

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
        }


AS_FOUND = Columns()
BY_DEFAULT = Solving()
