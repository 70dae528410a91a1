"""Which column is which: usual names, row numbers, unclear tables, and numbers that are not read."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from isotherm.graphs import Graph
from isotherm.io import FileError, FileWarning, UnclearError, read_graph, read_graph_file, read_seeds, read_seeds_file
from isotherm.io.columns import guessed_roles, sheet_places
from isotherm.io.file_layout import Column, Options

PAIRS = [
    ("from", "to"),
    ("from_account", "to_account"),
    ("FromNodeId", "ToNodeId"),
    ("From Account", "To Account"),
    ("src", "dst"),
    ("source", "target"),
    ("source_id", "target_id"),
    ("sourceid", "targetid"),
    ("sender", "receiver"),
    ("sender_id", "recipient_id"),
    ("head", "tail"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("node1", "node2"),
    ("account1", "account2"),
    ("person_a", "person_b"),
    ("citing", "cited"),
    ("citing_paper", "cited_paper"),
    ("follower", "followee"),
    ("nameOrig", "nameDest"),
    ("origin", "destination"),
    ("u", "v"),
    ("i", "j"),
]


@pytest.mark.parametrize("order", ["between", "behind"])
@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
def test_usual_names_of_ends(tmp_path: Path, pair: tuple[str, str], order: str) -> None:
    others = {"when": ["may", "june"], "note": ["x", "y"], "type": ["p", "q"]}
    ends = {pair[0]: ["ann", "bob"], pair[1]: ["bob", "cat"]}
    columns = ["when", *ends, "note", "type"] if order == "behind" else ["when", pair[1], "note", pair[0], "type"]
    pl.DataFrame({**others, **ends}).select(columns).write_csv(tmp_path / "e.csv")
    roles = read_graph_file(tmp_path / "e.csv", Options(header=True)).layout.roles
    assert [roles[end] and roles[end].name for end in ("source", "target")] == list(pair)  # type: ignore[union-attr]


@pytest.mark.parametrize("header", [["from_account", "to_account"], ["payer", "shop"]])
@pytest.mark.parametrize("index", [[0, 1, 2], [4, 2, 9]])
def test_the_index_of_pandas_is_no_node(tmp_path: Path, header: list[str], index: list[int]) -> None:
    rows = [("ann", "bob"), ("bob", "cat"), ("cat", "ann")]
    frame = pd.DataFrame(rows, columns=header, index=index)
    frame.to_csv(tmp_path / "e.csv")
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    pl.DataFrame({"__index_level_0__": index, **columns}).write_parquet(tmp_path / "e.parquet")
    pd.read_csv(tmp_path / "e.csv").to_csv(tmp_path / "twice.csv", index=False)  # "Unnamed: 0"
    for name in ("e.csv", "e.parquet", "twice.csv"):
        assert read_graph(tmp_path / name).nodes.tolist() == ["ann", "bob", "cat"], name


def test_the_index_of_pandas_is_no_seed(tmp_path: Path) -> None:
    frame = pd.DataFrame({"customer": ["ann", "bob"], "risk": ["low", "high"]})
    frame.to_csv(tmp_path / "s.csv")
    assert read_seeds(tmp_path / "s.csv") == {"ann": "low", "bob": "high"}
    frame["risk"].to_csv(tmp_path / "s.csv")  # here the index is all there is for a node
    assert read_seeds(tmp_path / "s.csv") == {"0": "low", "1": "high"}


@pytest.mark.parametrize(
    ("header", "node", "label"),
    [
        ("account_id,is_fraud", "account_id", "is_fraud"),
        ("id,label", "id", "label"),
        ("node,class", "node", "class"),
        ("account,fraud", "account", "fraud"),
        ("user,is_bot", "user", "is_bot"),
        ("customerId,isFraud", "customerId", "isFraud"),
        ("country,account_id,is_fraud", "account_id", "is_fraud"),
        ("country,age,label,account_id", "account_id", "label"),
        ("fraud,account", "account", "fraud"),
    ],
)
def test_headers_of_seeds(tmp_path: Path, header: str, node: str, label: str) -> None:
    names = header.split(",")
    rows = [{name: f"{name[:2]}{number}" for name in names} for number in range(3)]
    (tmp_path / "s.csv").write_text("\n".join([header, *(",".join(row.values()) for row in rows)]))
    read = read_seeds_file(tmp_path / "s.csv")
    assert read.layout.header
    assert read.seeds == {row[node]: row[label] for row in rows}


@pytest.mark.parametrize(
    "rows", ["ann,fraud\nbob,clean\n", "user_1,bot\nuser_2,bot\n", "account,clean\nfraud,account\n"]
)
def test_seeds_that_are_no_headers(tmp_path: Path, rows: str) -> None:
    (tmp_path / "s.csv").write_text(rows)
    assert len(read_seeds(tmp_path / "s.csv")) == 2


@pytest.mark.parametrize(
    ("rows", "choice"),
    [
        ("when,x,y,z\n1,a,b,c\n2,b,c,d\n", "source='x' target='y'"),
        ("from_bank,from_acct,to_bank,to_acct\n1,a,b,c\n2,b,c,d\n", "source='from_bank' target='to_bank'"),
    ],
)
def test_unclear_edges_are_refused(tmp_path: Path, rows: str, choice: str) -> None:
    (tmp_path / "e.csv").write_text(rows)
    with pytest.raises(UnclearError, match=f"has 4 columns, .*; choose two of them, as in {choice}$"):
        read_graph(tmp_path / "e.csv")
    assert read_graph(tmp_path / "e.csv", source=2, target=4, weight=False).n_edges == 2


BANK = {  # as a bank in Germany exports it
    "Buchungsdatum": ["01.01.2025", "02.01.2025", "02.01.2025"],
    "Auftraggeber Konto": ["0010", "0011", "0012"],
    "Währung": ["EUR", "EUR", "EUR"],
    "Empfänger Konto": ["0011", "0012", "0013"],
    "Betrag": ["112,85", "1.284,50", "12,00"],
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_ends_are_the_only_columns_with_common_ids(tmp_path: Path, ending: str) -> None:
    path, frame = tmp_path / f"e.{ending}", pl.DataFrame(BANK)
    if ending == "csv":
        frame.write_csv(path, separator=";")
    elif ending == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_excel(path)
    assert read_graph(path, weight=False).nodes.tolist() == ["0010", "0011", "0012", "0013"]


@pytest.mark.parametrize(
    ("rows", "nodes"),
    [
        ("amount;one;other\n1,50;a1;b1\n2,50;b1;a2\n3,50;a2;a3\n", ["a1", "b1", "a2", "a3"]),  # a fraction first
        ("who,does,whom\nann,calls,bob\nbob,likes,cat\ncat,likes,dan\n", ["ann", "bob", "cat", "dan"]),  # a verb
        ("stay,who,where\n10:20,ann,here\n11:00,bob,there\n12:00,ann,there\n", ["ann", "here", "bob", "there"]),
    ],
)
def test_narrow_tables_whose_first_columns_are_no_ends(tmp_path: Path, rows: str, nodes: list[str]) -> None:
    (tmp_path / "e.csv").write_text(rows)
    assert read_graph(tmp_path / "e.csv", header=True, weight=False).nodes.tolist() == nodes


@pytest.mark.parametrize(
    ("rows", "nodes", "weight"),
    [
        ("2024-01-01,y1,y2,54\n2024-01-02,y2,y3,7\n", ["y1", "y2", "y3"], 4),
        ("2024-01-01,13,4,54\n2024-01-02,4,5,7\n", ["13", "4", "5"], 4),
        ("0.5,ann,bob\n1.5,bob,cat\n", ["ann", "bob", "cat"], None),
        ("when,who,whom\n2024-01-03,ann,bob\n2024-02-12,bob,cat\n", ["ann", "bob", "cat"], None),
        ("who,whom,when\nann,bob,1.2.2024\nbob,cat,3.2.2024\n", ["ann", "bob", "cat"], None),
        ("wann;wer;wen\n1.2.2024;ann;bob\n3.2.2024;bob;cat\n", ["ann", "bob", "cat"], None),
        ("1.0,2.0,5,1999\n2.0,3.0,6,1998\n", ["1.0", "2.0", "3.0"], 3),  # ids of a table of floats
        ("2024-01-01,ann\n2024-01-02,bob\n", ["2024-01-01", "ann", "2024-01-02", "bob"], None),  # nothing else is left
    ],
)
def test_dates_and_fractions_are_no_ends(tmp_path: Path, rows: str, nodes: list[str], weight: int | None) -> None:
    (tmp_path / "e.csv").write_text(rows)
    read = read_graph_file(tmp_path / "e.csv")
    assert read.graph.nodes.tolist() == nodes
    assert read.layout.roles["weight"] == (weight and Column(weight))


def test_decimal_amounts_show_a_header(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("wann;wer;wen;Betrag\n1.2.2024;ann;bob;1498,59\n3.2.2024;bob;cat;12,00\n")
    with pytest.warns(FileWarning, match="the numbers in 'Betrag' are not read"):
        assert read_graph(tmp_path / "e.csv").nodes.tolist() == ["ann", "bob", "cat"]


@pytest.mark.parametrize(
    ("rows", "choice"),
    [
        (
            "day;no;one;other;sum\n1.1.2025;7;1;2;1,5\n2.1.2025;9;2;3;2,5\n",
            "source='one' target='other'",
        ),  # numbers may be amounts
        (
            "land,here,zone,there\nx,1a,y,2a\ny,2a,y,3a\nx,3a,x,1a\n",
            "source='here' target='there'",
        ),  # most values in common
        ("sum;who;what;where\n1,5;ann;x;here\n2,5;bob;y;there\n", "source='who' target='what'"),  # none in common
    ],
)
def test_the_question_for_ends_proposes_what_holds_ids(tmp_path: Path, rows: str, choice: str) -> None:
    (tmp_path / "e.csv").write_text(rows)
    with pytest.raises(UnclearError, match=f"; choose two of them, as in {choice}$"):
        read_graph(tmp_path / "e.csv", header=True)


def test_a_third_column_may_hold_the_labels(tmp_path: Path) -> None:
    path, ids, found = tmp_path / "s.csv", list("abcdef"), ["bad", "fine"] * 3
    pl.DataFrame({"konto": ids, "von wem": ["Jo"] * 3 + ["Al"] * 3, "befund": found}).write_csv(path)
    with pytest.raises(UnclearError, match=r"which are nodes and which are labels: .* node='konto' label='von wem'"):
        read_seeds(path)
    pl.DataFrame({"konto": ids, "summe": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], "befund": found}).write_csv(path)
    assert read_seeds(path) == dict(zip(ids, found, strict=True))


def test_a_table_of_vectors_is_no_table_of_edges(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("id,x,y,z\na,0.5,1.5,2.5\nb,3.5,0.1,0.2\n")
    with pytest.raises(
        UnclearError, match=r"if each row is a vector, use --vectors or VectorClassifier; else choose two"
    ):
        read_graph(tmp_path / "v.csv")


@pytest.mark.parametrize("header", ["Klasse,Wer\n", ""])
@pytest.mark.parametrize("names", [["ann", "bob", "cat", "dan"], ["ann", "bob"]])
def test_labels_may_come_before_nodes(tmp_path: Path, header: str, names: list[str]) -> None:
    """Labels that occur again tell; where each occurs once, the graph does."""
    path, labels = tmp_path / "s.csv", ["rot", "blau", "rot", "blau"]
    path.write_text(header + "".join(f"{label},{node}\n" for label, node in zip(labels, names, strict=False)))
    graph = Graph.from_edges(["ann", "bob", "cat"], ["bob", "cat", "dan"])
    found = read_seeds(path, like=graph, header=bool(header))
    assert found == dict(zip(names, labels, strict=False))
    if len(names) == 4:
        assert read_seeds(path, header=bool(header)) == found
        with pytest.warns(FileWarning, match="the first row .* is read as a header") if header else nullcontext():
            assert read_seeds(path, like=graph) == found


def test_labels_of_a_node_that_contradict_are_no_nodes(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("node,label\nann,x1\nann,x2\n")
    with pytest.raises(FileError, match="the node 'ann' has two labels"):
        read_seeds(path)
    path.write_text("ann,x\nann,y\nbob,x\n")  # neither order is right
    with pytest.raises(FileError, match="the node 'ann' has two labels"):
        read_seeds(path)
    path.write_text("ann,x\nann,y\nbob,z\nbob,w\n")  # the graph knows better
    with pytest.raises(FileError, match="the node 'ann' has two labels"):
        read_seeds(path, like=Graph.from_edges(["ann"], ["bob"]))


def test_unclear_seeds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("account_id,branch_id,age,is_fraud\na,b,1,x\nc,d,2,y\n")
    with pytest.raises(
        UnclearError, match=r"which are nodes and which are labels: .* node='account_id' label='is_fraud'"
    ):
        read_seeds(path)
    assert read_seeds(path, node="account_id") == {"a": "x", "c": "y"}


def test_a_repeated_name_is_refused_only_if_it_matters(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("Account,Account,note,note\na,b,x,y\nb,c,x,y\n")
    with pytest.raises(FileError, match=r"several columns named 'Account', number 1 and 2; give the number .* source"):
        read_graph(path, source="Account", target=2, header=True)
    assert read_graph(path, source=1, target=2, header=True).n_edges == 2


def test_numbers_that_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("from,to,amount,fee\na,b,5,1\nb,c,2,1\n")
    with pytest.warns(FileWarning, match="the numbers in 'amount', 'fee' are not read, .* weight='amount', .*=False"):
        assert not read_graph(path).weighted
    assert read_graph(path, weight="amount").weighted  # warnings are errors here
    assert not read_graph(path, weight=False).weighted
    path.write_text("from,to,year,bank_id,note\na,b,1999,1,x\nb,c,2001,2,y\n")  # no weights, clearly
    assert not read_graph(path).weighted


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("g.edgelist", {}),
        ("g.txt", {}),
        ("g.txt.gz", {}),
        ("g.csv", {"delimiter": ","}),
        ("g.tsv", {"delimiter": "\t"}),
    ],
)
def test_edge_lists_of_networkx_have_weights(tmp_path: Path, name: str, told: dict[str, Any]) -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from((f"a{i}", f"a{i * 7 % 999}", 1 + i / 8) for i in range(1, 100))
    graph.add_edge("a1", "a3", weight=np.float64(2.5), note="x, y", when=3)
    graph.add_edge("a1", "a5")  # networkx takes 1 for its weight
    nx.write_edgelist(graph, tmp_path / name, **told)
    found = read_graph(tmp_path / name)
    expected = nx.to_scipy_sparse_array(graph, nodelist=found.nodes.tolist())
    assert abs(found.adjacency - expected).max() == 0


def test_ids_in_braces_stay_ids(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("{a} {b}\n{b} {c}\n")
    assert read_graph(tmp_path / "e.txt").nodes.tolist() == ["{a}", "{b}", "{c}"]


def test_a_header_that_only_the_graph_shows(tmp_path: Path) -> None:
    graph = Graph.from_edges(["ann", "bob"], ["bob", "cat"])
    path = tmp_path / "s.csv"
    path.write_text("acct,kind\nann,1\nbob,-1\ncat,2\n")
    header = r"the first row \(acct, kind\) is read as a header, since 'acct' is not in the graph; .* header=True"
    with pytest.warns(FileWarning, match="label -1"), pytest.warns(FileWarning, match=header):
        assert read_seeds(path, like=graph) == {"ann": "1", "cat": "2"}
    assert "acct" in read_seeds(path)
    path.write_text("acct,kind\nann,kind\ncat,2\n")  # a label that occurs again
    assert "acct" in read_seeds(path, like=graph)


IDS, FLAGS = ["a", "b", "c", "d", "e", "f"], ["x", "y", "x", "x", "y", "y"]


@pytest.mark.parametrize(
    ("names", "columns", "picks", "expected"),
    [
        (["konto", "befund"], [IDS, FLAGS], {}, ([0], 1)),
        (["befund", "konto"], [FLAGS, IDS], {}, ([1], 0)),
        (["konto", "befund"], [[1, 2, 3, 4, 5, 6], [0, 1, 1, 0, 0, 1]], {}, ([0], 1)),
        (["konto", "befund"], [IDS, [True, False, False, True, None, None]], {}, ([0], 1)),
        (["konto", "andere", "befund"], [IDS, IDS[::-1], FLAGS], {}, ([0, 1], 2)),  # both may hold nodes
        (["konto", "andere", "befund"], [IDS, IDS[::-1], FLAGS], {"node": "andere"}, ([1], 2)),
        (["konto", "node", "befund"], [IDS, IDS[::-1], FLAGS], {}, ([1], 2)),  # one of them has a usual name
        (["konto", "befund", "art"], [IDS, FLAGS, FLAGS], {"label": "art"}, ([0], 2)),
        (["konto", "label", "art"], [IDS, FLAGS, FLAGS], {}, ([0], 1)),  # a usual name
        (["konto", "reviewer", "befund"], [IDS, FLAGS, FLAGS], {}, ([0], 2)),  # people are no labels
        (["konto", "art", "befund"], [IDS, ["x", "y", "", None, float("nan"), ""], FLAGS], {}, ([0], 2)),  # gaps
        (["konto", "betrag", "befund"], [IDS, [0.5, 1.5, 0.5, 0.5, 1.5, 1.5], FLAGS], {}, ([0], 2)),  # fractions
        (["konto", "gleich", "befund"], [IDS, ["x"] * 6, FLAGS], {}, ([0], 2)),  # one value tells nothing
        (["konto", "befund"], [["a", "b", "c", "d", None, ""], FLAGS], {}, ([0], 1)),  # most rows have an id
    ],
)
def test_columns_are_guessed_by_what_they_hold(
    names: list[str], columns: list[list[Any]], picks: dict[str, Any], expected: tuple[list[int], int]
) -> None:
    assert guessed_roles("seeds.csv", names, picks, columns)[:2] == expected


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["konto", "art", "befund"], [IDS, FLAGS, FLAGS]),  # two that may be labels
        (["befund", "art"], [FLAGS, FLAGS]),  # none that may be nodes
        (["konto", "anderes"], [IDS, IDS]),  # none that may be labels
        (["konto", "befund"], [["a", "b", None, None, None, ""], FLAGS]),  # most rows have no id
        (["konto", "befund"], [[0.5, 1.5, 2.5, 3.5, 4.5, 5.5], FLAGS]),
    ],
)
def test_columns_that_cannot_be_guessed_are_asked_for(names: list[str], columns: list[list[Any]]) -> None:
    with pytest.raises(UnclearError, match=r"seeds\.csv"):
        guessed_roles("seeds.csv", names, {}, columns)


def test_columns_of_a_sheet_of_suggest() -> None:
    assert sheet_places(["account", "verdict", "guess", "confidence", "value"]) == {2, 3, 4}
    assert sheet_places(["account", "verdict", "guess", "confidence", "value", "more"]) == {2, 3, 4, 5}
    assert sheet_places(["account", "verdict", "confidence", "guess"]) == set(), "another order"
    assert sheet_places(["account", "verdict", "more", "guess", "confidence"]) == set(), "something between them"
    assert sheet_places(["account", "verdict", "confidence"]) == set(), "a single name is no sheet"
