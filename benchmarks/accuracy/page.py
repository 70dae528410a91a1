"""docs/accuracy.md, its picture and the page for maintainers, made of the rows in docs/accuracy.csv.gz."""

import csv
from pathlib import Path

import numpy as np

from benchmarks.accuracy.goals import goal_table
from benchmarks.accuracy.graphs import MASKED, MASKS, PER_CLASS, PUBLIC, TWENTY, Facts
from benchmarks.accuracy.halves import DRAWN, TWINS, WITH_FEATURES
from benchmarks.accuracy.losses import loss_table
from benchmarks.accuracy.methods import SHOWN, best_variants
from benchmarks.accuracy.picture import Band, draw_differences
from benchmarks.accuracy.reach import REGRESSION, TABLE, reach_table
from benchmarks.accuracy.runs import SLOW, Results, unpack
from benchmarks.accuracy.statistics import Panel
from benchmarks.accuracy.tables import FEATURES, OURS, difference_table, markdown, method_table, wins_table
from benchmarks.accuracy.vectors import TABLES
from isotherm.study.tasks import PROTOCOLS

__all__ = [
    "compared_with_networks",
    "graphs_of",
    "kept_facts",
    "kept_results",
    "main_methods",
    "maintainers_page",
    "page",
    "write_page",
]

RICH_PROTOCOLS = [*PROTOCOLS, TWENTY]
NETWORK_NAMES = ("GCN", "GAT", "APPNP")
HOMOPHILOUS = 0.5  # adjusted homophily
# Accuracy that others published; the networks had 500 validation labels and settings tuned by them.
PUBLISHED: dict[str, dict[str, float]] = {
    "published: GCN (Kipf and Welling 2017)": {"cora": 81.5, "citeseer": 70.3},
    "published: GCNII (Chen et al. 2020)": {"cora": 85.5},
    "published: GraphAny (Zhao et al. 2025), not trained on the graph": {"cora": 79.4, "citeseer": 68.4},
}
PUBLISHED_MASKS: dict[str, dict[str, float]] = {
    "published: GCN (Platonov et al. 2023)": {
        "heterophilous/chameleon_filtered": 40.9,
        "heterophilous/squirrel_filtered": 39.5,
        "heterophilous/minesweeper": 89.8,
        "heterophilous/tolokers": 83.6,
    },
    "published: ResNet, without links (Platonov et al. 2023)": {"heterophilous/tolokers": 73.0},
    "published: tuned GCN (Luo et al. 2024)": {
        "heterophilous/chameleon_filtered": 46.3,
        "heterophilous/squirrel_filtered": 45.0,
    },
}
DOCS = Path(__file__).parents[2] / "docs"
ROWS, FACTS = DOCS / "accuracy.csv.gz", DOCS / "accuracy.graphs.csv"

INTRODUCTION = """\
# How right the labels are

Labels are hidden, and every method gets the same seeds to find them again. The picture shows by how many points
Isotherm, as it is by default, leads each other method. [`isotherm compare`](commands/compare.md) runs the same methods
on a graph of your own.

![The lead of Isotherm over each method, by protocol](accuracy.png)

The {count} graphs were split at random, once, into two halves. Everything that was chosen by trying, in Isotherm and in
the baselines, was chosen on the half for development. This page shows the half for confirmation{confirmed} [A page for
maintainers](maintainers/accuracy.md) shows the goals, and the half for development.
"""

AFTERWARDS = """\
, which was run
afterwards, once for each of five versions of Isotherm. Nothing was chosen by its scores, but one idea came from it:
the expert `convolution` was thought of after a look at the public split of CiteSeer.\
"""

MAINTAINERS = """\
# Goals of accuracy

Goals that were set before anything was measured, and the half of the graphs that was used for development. [How right
the labels are](../accuracy.md) shows the half for confirmation, and how everything was measured.
"""

CONFIDENCE = """\
The expected calibration error is the mean gap between confidence and accuracy: with an error of 0.04, confidence is off
by 4 points on average. The error on the worst graph is in brackets. The last row is the share of nodes whose true class
is in their prediction set of 90 %, with the graphs that are farthest off.
"""

FEATURES_TEXT = """\
Isotherm takes the features of nodes as [evidence](evidence.md). The networks are trained on the same seeds for 200
epochs with their published settings, without validation labels. Each network gets its features in rows of sum 1
or of length 1, whichever scores better on the hidden labels, which favours the networks. Some of these graphs are in
the half for development. If a graph is in two files, one is used.
"""

FEWER = """\
On these graphs, some trained networks have been run on one draw only: {names}. Differences and
wins are taken on the draws that all methods have.
"""

QUOTED = """\
Published figures are quoted. Those networks had 500 validation labels, except GraphAny; Isotherm and the methods above
them had none. CiteSeer has no isolated nodes here, so 12 of its 1000 test nodes are missing. A network differs by about
one point from one random start to another; these have one start.
"""

MASKS_TEXT = """\
Each figure is a mean over the masks. It is the accuracy or, for two classes, the area under the ROC curve (AUC).
About half of the nodes are seeds; validation labels are not used. For networks, each row of features is scaled to sum 1
or to length 1; dense features may also be left as they are. Each network gets the variant that is best on the test
labels.
"""

TABLES_TEXT = """\
The table compares `VectorClassifier` with logistic regression on the columns. For the regression, cross-validation on
the seeds chooses the penalty and the scaling of the rows: none, to length 1, or standardised. Large tables are cut to
10,000 rows, drawn at random.
"""

METHOD = """\
## How it was measured

- **Protocols.** Seeds are 1% or 5% of the labelled nodes, drawn uniformly (a few more, if these are of one class
  only), or three nodes of each class. There are {draws} draws for each graph, the same for all methods. Classes that
  have no seed cannot be found by any method, and count in macro-F1.
- **Scores.** Accuracy and macro-F1 are taken over all labelled nodes that are not seeds. A figure in a table is the
  mean over graphs of the mean over draws. A paired difference is taken graph by graph; ± is its standard error over
  graphs, and differences of more than two standard errors are bold.
- **Nodes that no seed reaches** have no evidence in the links. Isotherm leaves them without a label; many methods
  guess there, mostly the first or the most frequent class. For every method, such an answer counts as wrong, and so
  does a missing one. Methods that use features have evidence there, and their answers count as they are. This rule
  helps Isotherm: it was made after a first look at Cora, CiteSeer, polblogs and Debian, where guesses are often right.
  The column `guessed` of the stored rows is the accuracy with guesses counted.
- **Isotherm** has its defaults: heat, the spectrum of the graph and the degrees of its nodes, with arcs read as edges.
- **Peers** get edges without direction, classes numbered from 0, and their own defaults. GraphLearning gives NaN where
  a part of the graph has no seed, so it gets the nodes that are reached; Poisson learning gets each connected part by
  itself. Spectral embedding is that of scikit-network in 32 dimensions. The penalties of three regressions were chosen
  for their own best scores on a few graphs for development: those on X and SGC on four, that on the embedding on ten,
  with two draws each. That of the regression on [X, PX, P^2 X], which Correct and Smooth builds on, was not searched.
  Features are in rows of length 1.
- **Networks** are trained by Adam for 200 epochs, without weights of edges, and answer as they are at the end:

  | network | size | dropout | learning rate | weight decay |
  | --- | --- | --- | --- | --- |
  | GCN | 16 hidden units | 0.5 | 0.01 | 5e-4 on the first layer |
  | GAT | 8 heads of 8 units | 0.6 | 0.005 | 5e-4 |
  | APPNP | 64 hidden units, 10 steps, teleport 0.1 | 0.5 | 0.01 | 5e-3 on the first layer |
  | SGC, trained | 2 steps | | 0.2 | 5e-3 or 5e-6, whichever is better |

  Where adjusted homophily is below 0.5, APPNP has a weight decay of 5e-4, because 5e-3 fails there.
  Correct and Smooth on X starts from logistic regression. Both of its rounds have 50 steps with 0.8, and it ignores
  weights of edges too. GCN, APPNP and SGC are faster here than in PyTorch Geometric, because SciPy multiplies by sparse
  matrices. Two choices were made after a look at scores, and both favour the networks. After a look at the public split
  of Cora, the initial weights of APPNP were made smaller. After a look at Cora and CiteSeer, SGC got its second weight
  decay.
- **Prediction sets.** Coverage depends on which seeds were drawn. With three draws, even perfectly calibrated sets
  would miss the range from 0.88 to 0.93 on about 1.8 of 28 graphs by chance; on airports_europe, which has 20 seeds at
  5%, they would miss it half the time.
- **CPU s** is the CPU time for a draw in seconds, on one thread, averaged over graphs. It includes confidence if the
  method has it. Each method may use 60 CPU seconds for a draw. If it needs more on a graph, the tables call that graph
  lacking, and the method is ranked last there. {lacking}
- In blogcatalog and wikispeedia, nodes have several labels each. Only the label of the largest class counts.

This command runs the present Isotherm again on all graphs, masks and tables, and makes this page. After an
interruption, it goes on where it stopped:

    python -m benchmarks accuracy --renew out/isotherm.csv

To run the other methods where stored rows are missing, and to make the page (networks need
`pip install 'isotherm[bench-gnn]'`):

    python -m benchmarks accuracy --half all
    python -m benchmarks accuracy --official
    python -m benchmarks accuracy --tables
    python -m benchmarks accuracy --keep
    python -m benchmarks accuracy --page docs/accuracy.md
"""

CHANGES = """\
## Try a change

To see what a change of Isotherm does on the half for development, and then what a second one does:

    python -m benchmarks accuracy --now out/first.csv
    python -m benchmarks accuracy --now out/second.csv --against out/first.csv

With `--official` or `--tables` it does the same for official masks and for tables.
"""

OF_EACH = """\
The goals with features were set by a trial whose draws are not known. Drawn uniformly, 1% of the labels often leaves a
class without any seed. So these goals are also measured with 1% and 5% of each class, and at least one label of it.
"""


def write_page(path: Path) -> None:
    """Write the page, beside it the picture, and in a folder the page for maintainers."""
    results, facts = kept_results(), kept_facts()
    shown = best_variants(results)
    half = measured_halves(shown)[0]
    draw_differences(shown, bands(shown, half), path.with_suffix(".png"), half)
    path.write_text(page(results, facts), encoding="utf-8")
    maintainers = path.parent / "maintainers" / path.name
    maintainers.parent.mkdir(exist_ok=True)
    maintainers.write_text(maintainers_page(results, facts), encoding="utf-8")


def bands(results: Results, half: str) -> list[Band]:
    """What the picture shows: all methods that need links alone, and those that use features."""
    names = graphs_of(results, half)
    rich = _rich(names)
    return [
        Band(f"links only, {len(names)} graphs", OURS, names, main_methods(results), list(PROTOCOLS)),
        Band(f"with features, {len(rich)} graphs", FEATURES, rich, rich_methods(results, rich), RICH_PROTOCOLS),
    ]


def kept_results() -> Results:
    """The rows in the repository."""
    return unpack(ROWS.read_bytes())


def kept_facts() -> dict[str, Facts]:
    """The facts about graphs in the repository."""
    with FACTS.open(encoding="utf-8") as lines:
        rows = [{**line} for line in csv.DictReader(lines)]
    return {row["graph"]: Facts(row["graph"], *(float(row[name]) for name in list(row)[1:])) for row in rows}  # type: ignore[arg-type]


def page(results: Results, facts: dict[str, Facts]) -> str:
    """The page for users as Markdown: the half for confirmation, as far as it was run."""
    results = best_variants(results)
    half = measured_halves(results)[0]
    confirmed = AFTERWARDS if half == "confirmation" else ", which has not been run\nyet: nothing here is confirmed."
    parts = [INTRODUCTION.format(count=sum(map(len, DRAWN.values())), confirmed=confirmed)]
    parts += _half(results, facts, half)
    parts += _networks(results, facts)
    parts += _features(results, half)
    parts += _published_splits(results)
    parts += _tables(results)
    return "\n".join([*parts, METHOD.format(draws=_draws(results), lacking=_stopped(results))])


def maintainers_page(results: Results, facts: dict[str, Facts]) -> str:
    """The page for maintainers as Markdown: goals, decisions and rules, and the half for development."""
    results = best_variants(results)
    parts = [
        MAINTAINERS,
        "## Goals\n",
        reach_table(results, facts),
        "Goals of the version before:\n",
        goal_table(results),
    ]
    parts.append(OF_EACH)
    for half in measured_halves(results):
        rules = [name for name, method in SHOWN.items() if method.ours and not method.features]
        rules = [name for name in rules if _tried(results, graphs_of(results, half), name)]
        parts.append(f"## Decisions and rules of Isotherm ({half})\n")
        parts.append(method_table(results, graphs_of(results, half), PROTOCOLS, rules) + "\n")
    if "development" in measured_halves(results)[1:]:
        parts += [*_half(results, facts, "development"), *_features(results, "development")]
    return "\n".join([*parts, CHANGES])


def _draws(results: Results) -> int:
    return 1 + max(row.draw for row in results.values() if row.protocol in PROTOCOLS)


def _stopped(results: Results) -> str:
    """Which rows an earlier run stopped at a smaller budget than that of today."""
    count = sum(row.status == SLOW and row.protocol in PROTOCOLS for row in results.values())
    if not count:
        return ""
    text = "draws of other methods, which are missing here."
    return f"An earlier run had a budget of 10 seconds for three draws. It stopped {count}\n  {text}"


def _networks(results: Results, facts: dict[str, Facts]) -> list[str]:
    """Isotherm with features and every method that uses them, on graphs of both halves on which networks were run."""
    alike, others = compared_with_networks(results, facts)
    names = [name for name in WITH_FEATURES if name in {*alike, *others}]
    if not names:
        return []
    peers = [name for name in rich_methods(results, names) if name != FEATURES]
    parts = [f"## With features, against trained networks: {len(names)} graphs of both halves\n", FEATURES_TEXT]
    few = [name for name in names if any((name, "1%", 2, peer) not in results for peer in NETWORK_NAMES)]
    if few:
        parts.append(FEWER.format(names=", ".join(few)))
    for kind, group in (("are mostly alike", alike), ("often differ", others)):
        if group:
            parts += [
                f"Neighbours {kind} ({', '.join(group)}); paired differences, in points:\n",
                difference_table(results, group, RICH_PROTOCOLS, peers, FEATURES) + "\n",
            ]
    return [*parts, wins_table(results, names, RICH_PROTOCOLS, [FEATURES, *peers]) + "\n"]


def compared_with_networks(results: Results, facts: dict[str, Facts]) -> tuple[list[str], list[str]]:
    """Graphs on which networks were run: those whose neighbours are mostly alike, and the others."""
    second = {pair[1] for pair in TWINS}
    ran = {row.key[:2] for row in results.values() if row.method == "APPNP"}
    names = [name for name in WITH_FEATURES if all((name, protocol) in ran for protocol in RICH_PROTOCOLS)]
    names = [name for name in names if name in facts and name not in second]
    alike = [name for name in names if _adjusted(facts[name]) > HOMOPHILOUS]
    return alike, [name for name in names if name not in alike]


def _tables(results: Results) -> list[str]:
    """Isotherm on tables of vectors, and logistic regression at its best."""
    rows = [["accuracy in percent: Isotherm / regression", *PER_CLASS]]
    for name in TABLES:
        panels = [Panel(results, [name], protocol) for protocol in PER_CLASS]
        pairs = [[panel.by_graph(method, "accuracy")[0] for method in (TABLE, REGRESSION)] for panel in panels]
        cells = ["" if np.isnan(pair).any() else f"{100 * pair[0]:.1f} / {100 * pair[1]:.1f}" for pair in pairs]
        if any(cells):
            rows.append([name.removeprefix("table/"), *cells])
    return ["## Tables of vectors\n", TABLES_TEXT, markdown(rows) + "\n"] if len(rows) > 1 else []


def _adjusted(found: Facts) -> float:
    """Adjusted homophily."""
    return (found.alike - found.chance) / (1 - found.chance)


def _published_splits(results: Results) -> list[str]:
    """The public splits of Planetoid and the official masks, with figures that others published."""
    parts = []
    public = _figures(results, ["cora", "citeseer"], PUBLIC, PUBLISHED)
    if public:
        parts += ["## The public split of Planetoid: accuracy, 20 seeds per class\n", public + "\n", QUOTED]
    masks = _figures(results, MASKED, MASKS, PUBLISHED_MASKS)
    if masks:
        parts += ["## Official masks: graphs on which neighbours often differ\n", MASKS_TEXT, masks + "\n"]
    return parts


def _figures(results: Results, graphs: list[str], protocol: str, quoted: dict[str, dict[str, float]]) -> str:
    """A row for each method with its accuracy or AUC in percent on each graph, then rows of quoted figures."""
    panel = Panel(results, graphs, protocol)
    areas = {graph: not np.isnan(area) for graph, area in zip(graphs, panel.by_graph(FEATURES, "auc"), strict=True)}
    rows = []
    for method in [name for name, each in SHOWN.items() if each.features or name == OURS]:
        both = {figure: panel.by_graph(method, figure) for figure in ("accuracy", "auc")}
        values = [both["auc" if areas[graph] else "accuracy"][place] for place, graph in enumerate(graphs)]
        rows.append([method, *("" if np.isnan(value) else f"{100 * value:.1f}" for value in values)])
    rows = [row for row in rows if any(row[1:])]
    if not rows:
        return ""
    rows += [
        [name, *(f"*{found[graph]}*" if graph in found else "" for graph in graphs)] for name, found in quoted.items()
    ]
    words = [graph.removeprefix("heterophilous/") + (", AUC" if areas[graph] else "") for graph in graphs]
    return markdown([["in percent", *words], *rows])


def measured_halves(results: Results) -> list[str]:
    """The halves with results, confirmation first."""
    return [half for half in ("confirmation", "development") if graphs_of(results, half)]


def graphs_of(results: Results, half: str) -> list[str]:
    """The graphs of a half on which Isotherm was run with all protocols."""
    ran = {(row.graph, row.protocol) for row in results.values() if row.method == OURS}
    return [name for name in DRAWN[half] if all((name, protocol) in ran for protocol in PROTOCOLS)]


def main_methods(results: Results) -> list[str]:
    """Isotherm by default, and every peer that needs no features."""
    tried = {row.method for row in results.values()}
    return [
        name for name, each in SHOWN.items() if name in tried and not each.features and (name == OURS or not each.ours)
    ]


def rich_methods(results: Results, names: list[str]) -> list[str]:
    """Isotherm with features, and every peer that uses them, on any of these graphs."""
    return [
        name
        for name, method in SHOWN.items()
        if method.features and (name == FEATURES or not method.ours) and _tried(results, names, name)
    ]


def _rich(names: list[str]) -> list[str]:
    return [name for name in names if name in WITH_FEATURES]


def _half(results: Results, facts: dict[str, Facts], half: str) -> list[str]:
    """Links only: scores, paired differences, wins and losses, and the confidence."""
    names, methods = graphs_of(results, half), main_methods(results)
    peers = [name for name in methods if name != OURS]
    whole = "" if len(names) == len(DRAWN[half]) else f" of {len(DRAWN[half])}"
    return [
        f"## Links only: {len(names)}{whole} graphs for {half}\n",
        method_table(results, names, PROTOCOLS, methods) + "\n",
        "The lead of Isotherm over each method, in points:\n",
        difference_table(results, names, PROTOCOLS, peers, OURS) + "\n",
        "A lead on average is not a lead on every graph. On how many graphs is each method the best?\n",
        wins_table(results, names, PROTOCOLS, methods) + "\n",
        "### Where Isotherm loses\n",
        loss_table(results, facts, names, peers) + "\n",
        "## Confidence\n",
        CONFIDENCE,
        _calibration(results, names) + "\n",
    ]


def _features(results: Results, half: str) -> list[str]:
    """With features, on the graphs of a half that have them."""
    rich = _rich(graphs_of(results, half))
    if not rich:
        return []
    methods = rich_methods(results, rich)
    return [
        f"## With features: {len(rich)} graphs for {half}\n",
        method_table(results, rich, RICH_PROTOCOLS, [OURS, *methods]) + "\n",
        difference_table(results, rich, RICH_PROTOCOLS, methods[1:], FEATURES) + "\n",
    ]


def _tried(results: Results, names: list[str], method: str) -> bool:
    graphs = set(names)
    return any(row.method == method and row.graph in graphs for row in results.values())


def _calibration(results: Results, names: list[str]) -> str:
    """Calibration error of every method that has probabilities, and coverage of ours."""
    rows = [["expected calibration error, mean of graphs (worst graph, draws together)", *PROTOCOLS]]
    for method in SHOWN:
        cells = []
        for protocol in PROTOCOLS:
            panel = Panel(results, names, protocol)
            mean, worst = panel.mean(method, "calibration_error").mean, panel.by_graph(method, "together")
            cells.append("" if np.isnan(worst).all() else f"{mean:.3f} ({np.nanmax(worst):.2f})")
        if any(cells):
            rows.append([method, *cells])
    coverage = ["coverage of sets at 90%, mean (least to most)"]
    for protocol in PROTOCOLS:
        values = Panel(results, names, protocol).by_graph(OURS, "coverage")
        known = values[~np.isnan(values)]
        coverage.append(f"{known.mean():.3f} ({known.min():.2f} to {known.max():.2f})" if len(known) else "")
    return markdown([*rows, coverage])
