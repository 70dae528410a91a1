"""``isotherm classify``: what is read, what is written, what is said."""

import json
import re
import sys
import typing
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import Run, runner

import isotherm as iso
from isotherm import choices
from isotherm.choices import RuleName, SideName
from isotherm.cli import options
from isotherm.engines import ENGINES
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.insight.suggestion import POLICIES
from isotherm.io import read_graph, read_seeds
from isotherm.labelling.rules import RULES
from isotherm.labelling.settings import CHOICES
from isotherm.node_classifier import RULE_NAMES
from isotherm.probability.evidence import AUTO, COMPATIBILITY, SPECTRAL


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("RULE", "TOL", "SOLVER", "QUIET"):
        monkeypatch.delenv(f"ISOTHERM_{name}", raising=False)
    return runner(tmp_path, capfd, monkeypatch)


READERS: dict[str, Any] = {
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
    "arrow": pl.read_ipc,
    "csv.gz": pl.read_csv,
    "csv.zst": pl.read_csv,
}


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("suffix", READERS)
def test_every_output_holds_what_the_classifier_says(run: Run, suffix: str) -> None:
    path = f"labels.{suffix}"
    outcome = run("classify", "edges.csv", "seeds.csv", "-o", path, "--probabilities", "--temperatures")
    assert outcome.status == 0, outcome.err
    assert outcome.out == ""
    clf = iso.NodeClassifier().fit(read_graph("edges.csv"), read_seeds("seeds.csv"))
    frame = READERS[suffix](path)
    assert frame.columns == ["node", "label", "confidence", "p_coffee", "p_tea", "t_coffee", "t_tea"]
    assert frame["node"].to_list() == clf.graph_.nodes.tolist()
    assert frame["label"].to_list() == clf.labels_.tolist()
    np.testing.assert_allclose(frame["confidence"], clf.confidence_, rtol=1e-6)
    np.testing.assert_allclose(frame.select("^p_.*$").to_numpy(), clf.predict_proba(), rtol=1e-6)
    np.testing.assert_allclose(frame.select("^t_.*$").to_numpy(), clf.temperatures_, rtol=1e-6)


@pytest.mark.parametrize("suffix", list(READERS))
def test_a_result_can_be_the_seeds_of_the_next_job(run: Run, suffix: str) -> None:
    run("classify", "edges.csv", "seeds.csv", "-o", f"labels.{suffix}")
    again = run("classify", "edges.csv", f"labels.{suffix}", "-q")
    assert again.status == 0, again.err
    first = run("classify", "edges.csv", "seeds.csv", "-q")
    labels = [[line.split(",")[1] for line in outcome.out.splitlines()] for outcome in (first, again)]
    assert labels[0] == labels[1]


def test_ids_stay_what_they_are(run: Run) -> None:
    ids = ["007", "7", "a b", 'say ""hi""', "x,y", "Zo\u00eb", "\u65e5\u672c", "#1", "NaN", "1e3"]
    rows = "".join(f'"{a}","{b}"\n' for a, b in pairwise(ids))
    Path("odd.csv").write_text(f"source,target\n{rows}", encoding="utf-8")
    Path("ends.csv").write_text(f'node,label\n"{ids[0]}","l,1"\n"{ids[-1]}","l 2"\n', encoding="utf-8")
    run("classify", "odd.csv", "ends.csv", "-o", "labels.csv")
    frame = pl.read_csv("labels.csv", infer_schema=False)
    assert frame["node"].to_list() == [name.replace('""', '"') for name in ids]
    assert set(frame["label"].to_list()) == {"l,1", "l 2"}


def test_which_rows_are_written(run: Run) -> None:
    Path("apart.csv").write_text("a,b\nb,c\nc,d\nd,e\ne,f\nx,y\n")
    Path("ends.csv").write_text("node,label\na,1\nf,2\n")
    every = pl.read_csv(run("classify", "apart.csv", "ends.csv", "-q").out.encode())
    assert every["node"].to_list() == ["a", "b", "c", "d", "e", "f", "x", "y"]
    assert every["label"].to_list()[:2] == [1, 1]
    assert every["label"].to_list()[6:] == [None, None]
    assert every["confidence"].to_list()[6:] == [0, 0]
    others = pl.read_csv(run("classify", "apart.csv", "ends.csv", "-q", "--only-unlabelled").out.encode())
    assert others["node"].to_list() == ["b", "c", "d", "e", "x", "y"]
    limit = float(every["confidence"].sort()[4])
    sure = run("classify", "apart.csv", "ends.csv", "-q", "--min-confidence", str(limit))
    kept = every.filter(pl.col("confidence") >= limit)["node"].to_list()
    assert pl.read_csv(sure.out.encode())["node"].to_list() == kept
    assert 2 < len(kept) < 7


def test_edges_that_occur_twice_are_not_called_weighted(run: Run) -> None:
    Path("edges.csv").write_text("source,target\nann,bob\nbob,ann\nbob,gus\n")
    outcome = run("classify", "edges.csv", "seeds.csv", "-o", "labels.csv", "--json")
    assert "edges        2 (repeated edges count more)" in outcome.err
    assert json.loads(outcome.out)["repeated_edges_counted"] is True
    Path("edges.csv").write_text("source,target\nann,bob\nbob,gus\n")
    assert "edges        2\n" in run("classify", "edges.csv", "seeds.csv").err


def test_the_summary_for_people(run: Run) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv")
    assert "edges.csv: source=col 1 (source), target=col 2 (target), weight=col 3 (weight)" in outcome.err
    facts = dict(line.split(maxsplit=1) for line in outcome.err.splitlines() if line[:1].islower() and "  " in line)
    assert facts["nodes"] == "7"
    assert facts["edges"] == "8 (weighted)"
    assert facts["seeds"] == "2 (28.6% of the nodes)"
    assert facts["unreached"] == "0"
    assert facts["classifier"] == "NodeClassifier, decision balanced"
    assert facts["confidence"] == "a guess by usual weights: no seed can be hidden"
    assert facts["solver"].startswith("direct, 0 iterations, residual ")
    assert re.fullmatch(
        r"reading [\d.]+, solving [\d.]+, calibrating [\d.]+, writing [\d.]+, total [\d.]+", facts["seconds"]
    )
    *counts, share = facts["coffee"].split()
    assert counts == ["1", "50.0%", "4", "57.1%"]
    assert len(share) == 12  # of 20 for 57.1%, the last one cut
    assert "peak memory" in outcome.err


def test_the_summary_for_machines(run: Run) -> None:
    run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--json-summary", "s.json", "-q", "--solver", "cg")
    summary = json.loads(Path("s.json").read_text())
    assert (summary["nodes"], summary["edges"], summary["classes"], summary["seeds"]) == (7, 8, 2, 2)
    assert (summary["solver"], summary["rule"], summary["unreached"], summary["rows"]) == ("cg", "balanced", 0, 7)
    assert summary["counts"] == {"coffee": {"seeds": 1, "result": 4}, "tea": {"seeds": 1, "result": 3}}
    assert set(summary["seconds"]) == {"reading", "solving", "calibrating", "writing", "total"}
    assert summary["seconds"]["total"] >= sum(summary["seconds"].values()) / 2
    assert summary["peak_memory_bytes"] > 10**7
    assert summary["layouts"]["seeds.csv"].startswith("node=col 1")


def test_the_classes_in_the_summary_may_be_many_and_odd(run: Run) -> None:
    chain = [f"n{i}" for i in range(60)]
    Path("chain.csv").write_text("".join(f"{a},{b}\n" for a, b in pairwise(chain)))
    odd = {"n0": "\u5496\u5561", "n2": "a\tb", "n4": "x" * 100}
    labels = {node: odd.get(node, f"class {node}") for node in chain[::2]}
    pl.DataFrame({"node": list(labels), "label": list(labels.values())}).write_parquet("all.parquet")
    table = run("classify", "chain.csv", "all.parquet", "-o", "l.csv").err.split("\n\n")[-1].splitlines()
    assert len(table) == 1 + 20 + 1
    assert table[-1].split()[:4] == ["10", "more", "10", "33.3%"]
    assert "a\\tb" in table[2] + table[3]
    assert not any("x" * 41 in line for line in table)


def test_quiet_is_quiet(run: Run) -> None:
    Path("apart.csv").write_text("a,b\nb,c\nx,y\n")
    Path("ends.csv").write_text("node,label\na,1\nc,2\n")
    outcome = run("classify", "apart.csv", "ends.csv", "-q", "--json-summary", "s.json")
    assert outcome.err == ""
    assert "2 of 5 nodes" in json.loads(Path("s.json").read_text())["warnings"][0]
    assert "warning: 2 of 5 nodes" in run("classify", "apart.csv", "ends.csv").err


def test_options_come_before_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_RULE", "vanilla")
    assert "vanilla" in run("classify", "edges.csv", "seeds.csv").err
    assert "relative" in run("classify", "edges.csv", "seeds.csv", "--rule", "relative").err
    monkeypatch.setenv("ISOTHERM_QUIET", "1")
    assert run("classify", "edges.csv", "seeds.csv").err == ""


def test_every_option_has_a_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("OUTPUT_FORMAT", "jsonl"), ("MAX_ITER", "1"), ("SOLVER", "sweeps"), ("UNWEIGHTED", "true")):
        monkeypatch.setenv(f"ISOTHERM_{name}", value)
    outcome = run("classify", "edges.csv", "seeds.csv")
    assert outcome.out.startswith('{"node":"ann"')
    assert "weight=none" in outcome.err
    assert "sweeps, 1 iterations, residual" in outcome.err
    warning = re.search("isotherm: warning: sweeps stopped after 1 iterations .*", outcome.err)
    assert warning
    assert "above --tol 0.001: use --solver auto, or raise --max-iter or --tol" in warning[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver(run: Run, solver: str) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "--solver", solver, "--tol", "1e-6", "--threads", "1")
    labels = [line.split(",")[1] for line in outcome.out.splitlines()[1:]]
    assert labels == ["tea", "tea", "tea", "coffee", "coffee", "coffee", "coffee"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("side", ["both", "source"])
def test_directed_graphs_and_rules(run: Run, rule: RuleName, side: SideName) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "--directed", "--rule", rule, "--side", side, "-q")
    graph = read_graph("edges.csv", directed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", iso.UnreachedWarning)
        clf = iso.DirichletClassifier(rule=rule, side=side).fit(graph, read_seeds("seeds.csv"))
    labels = [line.split(",")[1] or None for line in outcome.out.splitlines()[1:]]
    assert labels == clf.labels_.tolist()


def test_columns_can_be_chosen(run: Run) -> None:
    Path("wide.tsv").write_text("when\tv\tu\tcost\n1\tb\ta\t5\n2\tc\tb\t1\n")
    Path("ends.csv").write_text("x;who;what\n1;a;left\n2;c;right\n")
    chosen = ["--source", "u", "--target", "2", "--weight", "cost", "--node", "who", "--label", "3"]
    outcome = run("classify", "wide.tsv", "ends.csv", *chosen, "--temperatures")
    assert "source=col 3 (u), target=col 2 (v), weight=col 4 (cost)" in outcome.err
    frame = pl.read_csv(outcome.out.encode())
    assert frame["node"].to_list() == ["a", "b", "c"]
    np.testing.assert_allclose(frame["t_left"], [1, 5 / 6, 0])
    outcome = run("classify", "wide.tsv", "ends.csv", *chosen[:4], *chosen[6:], "--unweighted", "--temperatures")
    np.testing.assert_allclose(pl.read_csv(outcome.out.encode())["t_left"], [1, 1 / 2, 0])


def test_the_choices_are_those_of_the_library() -> None:
    fields = typing.get_type_hints(options.Solving)
    assert typing.get_args(options.Rule) == RULE_NAMES
    assert set(typing.get_args(fields["solver"])) == set(SOLVERS)
    assert typing.get_args(fields["engine"]) == tuple(ENGINES)
    assert typing.get_args(choices.SideName) == CHOICES["side"]
    assert typing.get_args(choices.StopName) == CHOICES["stop"]
    assert typing.get_args(choices.SuggestPolicy) == POLICIES
    assert typing.get_args(choices.EvidenceName) == (AUTO, SPECTRAL, COMPATIBILITY)
    solving = options.Solving()
    elsewhere = {"verbose": False}  # commands have a bar of their own
    product, paper = iso.NodeClassifier().get_params(), iso.DirichletClassifier().get_params()
    assert elsewhere | solving.for_classifier() == _without(product, "decision", "class_weight", "class_sizes", "side")
    ours = elsewhere | solving.for_classifier() | solving.for_temperatures()
    assert ours == _without(paper, "rule", "side")
    assert options.Fitting().rule == product["decision"]


def _without(parameters: dict[str, Any], *names: str) -> dict[str, Any]:
    assert set(names) <= set(parameters)
    return {name: value for name, value in parameters.items() if name not in names}


@pytest.mark.parametrize(
    ("rule", "classifier"),
    [
        ("balanced", "NodeClassifier, decision balanced"),
        ("probable", "NodeClassifier, decision probable"),
        ("centered", "DirichletClassifier, rule centered"),
        ("weighted", "DirichletClassifier, rule weighted"),
    ],
)
def test_the_summary_says_which_classifier_ran(run: Run, rule: str, classifier: str) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--rule", rule, "--json")
    assert f"classifier   {classifier}\n" in outcome.err
    summary = json.loads(outcome.out)
    assert (summary["classifier"], summary["rule"]) == (classifier.split(",")[0], rule)
    several = run("classify", "edges.csv", "seeds.csv", "--multi-label").err
    assert "classifier   NodeClassifier, by heat alone: rule relative\n" in several


@pytest.mark.parametrize(
    ("rule", "given", "remedy"),
    [
        ("centered", ["--class-sizes", "tea=0.5"], "leave out --class-sizes, or set --rule balanced"),
        ("centered", ["--class-weight", "tea=5"], "leave out --class-weight, or set --rule balanced"),
        ("relative", ["--evidence", "spectral"], "leave out --evidence, or set --rule balanced"),
        ("vanilla", ["--features", "items.csv"], "leave out --features, or set --rule balanced"),
        ("balanced", ["--stop", "labels"], "leave out --stop, or set --rule centered"),
        ("probable", ["--no-confidence"], "leave out --no-confidence, or set --rule centered"),
    ],
)
def test_options_of_the_other_classifier_are_refused(run: Run, rule: str, given: list[str], remedy: str) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "--rule", rule, *given)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith(f": {remedy}\n")
    assert outcome.err.count("\n") == 1


def test_centered_is_the_classifier_of_the_paper(run: Run) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "--directed", "--rule", "centered", "--tol", "1e-9", "-q")
    graph = read_graph("edges.csv", directed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = iso.DirichletClassifier(tol=1e-9).fit(graph, read_seeds("seeds.csv"))
        assert pl.read_csv(outcome.out.encode())["confidence"].to_list() == pytest.approx(clf.confidence_.tolist())
    assert [line.split(",")[1] or None for line in outcome.out.splitlines()[1:]] == clf.labels_.tolist()


def test_many_classes_in_little_memory(run: Run) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "--max-memory", "100 B")
    assert outcome.status == 0, outcome.err
    assert "labels go by heat alone" in outcome.err
    clf = iso.DirichletClassifier("relative", calibration=None).fit(read_graph("edges.csv"), read_seeds("seeds.csv"))
    frame = pl.read_csv(outcome.out.encode())
    assert frame["label"].to_list() == clf.labels_.tolist()
    np.testing.assert_allclose(frame["confidence"], clf.confidence_, rtol=1e-6)
    for option in ("--temperatures", "--probabilities"):
        refused = run("classify", "edges.csv", "seeds.csv", "--max-memory", "100 B", option, "-o", "l.csv")
        assert refused.status == 2
        assert "isotherm: there are too many classes to keep all temperatures" in refused.err
        assert "raise --max-memory" in refused.err
        assert not Path("l.csv").exists()


def test_labels_can_be_certified(run: Run) -> None:
    by_heat = ["classify", "edges.csv", "seeds.csv", "--rule", "centered"]
    outcome = run(*by_heat, "--solver", "cg", "--stop", "labels", "--open-share", "0")
    assert outcome.status == 0, outcome.err
    plain = run(*by_heat)
    labels = [[line.split(",")[:2] for line in result.out.splitlines()] for result in (outcome, plain)]
    assert labels[0] == labels[1]


def test_bars_are_drawn_on_a_terminal_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\033" not in run("classify", "edges.csv", "seeds.csv").err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    drawn = run("classify", "edges.csv", "seeds.csv", "--solver", "cg").err
    assert all(stage in drawn for stage in ("reading", "solving", "writing"))
    assert "tol 1e-03, iteration" in drawn
    quiet = run("classify", "edges.csv", "seeds.csv", "--solver", "cg", "-q").err
    assert quiet == ""


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_strict_makes_warnings_an_error_after_the_output_is_written(run: Run, quiet: list[str]) -> None:
    usual = run("classify", "edges.csv", "seeds.csv", "-o", "usual.csv")
    assert usual.status == 0
    strict = run("classify", "edges.csv", "seeds.csv", "-o", "strict.csv", "--strict", *quiet)
    assert strict.status == 3
    assert Path("strict.csv").read_text() == Path("usual.csv").read_text()
    warned = [line for line in usual.err.splitlines() if line.startswith("isotherm: warning: ")]
    assert warned
    assert [line for line in strict.err.splitlines() if line.startswith("isotherm: warning: ")] == warned
    assert strict.err.splitlines()[-1].endswith("so --strict ends with status 3")
    by_heat = ["--rule", "centered", "--no-confidence"]
    fine = run("classify", "edges.csv", "seeds.csv", "-o", "fine.csv", "--strict", *by_heat, *quiet)
    assert (fine.status, "--strict" in fine.err) == (0, False), fine.err


def test_every_command_that_reads_can_be_strict(run: Run) -> None:
    Path("more.csv").write_text("node,label\nann,tea\nbob,tea\nfay,coffee\ngus,coffee\nzoe,tea\n")
    for command in (["explain", "edges.csv", "seeds.csv", "bob"], ["suggest", "edges.csv", "seeds.csv"]):
        assert run(*command, "--strict", "-q").status == 3
    drawn = ["--fraction", "0.5", "--policy", "balanced", "--ignore-missing-seeds"]
    outcome = run("evaluate", "edges.csv", "more.csv", *drawn, "--strict", "-q")
    assert outcome.status == 3
    assert "1 of 5 labelled nodes are not in the graph" in outcome.err


def test_json_goes_to_standard_output(run: Run) -> None:
    outcome = run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--json", "--json-summary", "s.json", "-q")
    assert outcome.status == 0
    assert json.loads(outcome.out) == json.loads(Path("s.json").read_text())
    assert json.loads(outcome.out)["output"] == "l.csv"
    assert json.loads(outcome.out)["rows"] == 7
    assert len(Path("l.csv").read_text().splitlines()) == 8


def test_formulas_can_be_made_harmless(run: Run) -> None:
    Path("odd.csv").write_text("source,target\n=1+1,bob\nbob,gus\n")
    Path("ends.csv").write_text("node,label\n=1+1,@a\ngus,b\n")
    assert "\n=1+1,@a,1.0\n" in run("classify", "odd.csv", "ends.csv").out
    assert "\n'=1+1,'@a,1.0\n" in run("classify", "odd.csv", "ends.csv", "--safe-cells").out
    assert "'=1+1" in run("explain", "odd.csv", "ends.csv", "bob", "-o", "-", "--safe-cells").out
