"""Tables of attributes: what each column is read as, what it becomes, and what is left out."""

from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder

import isotherm as iso
from isotherm.io.errors import FileWarning
from isotherm.io.node_rows import read_node_features
from isotherm.io.number_styles import find_style

N = 60
RNG = np.random.default_rng(0)
ACCOUNTS = {
    "account_id": [f"{100 + place:06}" for place in range(N)],
    "country": RNG.choice(["FR", "DE", "US"], N).tolist(),
    "age": [None if place % 7 == 0 else int(20 + place) for place in range(N)],
    "balance": [f"{1000 + 17 * place:,}.{place:02}" for place in range(N)],
    "opened": [f"20{10 + place % 13}-0{1 + place % 9}-15" for place in range(N)],
    "is_business": RNG.choice(["Y", "N"], N).tolist(),
    "planet": ["Earth"] * N,
    "nothing": [""] * N,
    "label": RNG.choice(["a", "b"], N).tolist(),
    "target": [place % 2 for place in range(N)],
}
KINDS = {
    "account_id": "left out: identifier",
    "country": "category, 3 values",
    "age": "number, 9 missing",
    "balance": "number",
    "opened": "date",
    "is_business": "category, 2 values",
    "planet": "left out: one value only",
    "nothing": "left out: no values",
    "label": "left out: may hold the answer, by its name",
    "target": "left out: may hold the answer, by its name",
}


def kinds(table: iso.FeatureTable) -> dict[str, str]:
    return {column.name: str(column) for column in table.columns_}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda rows: pd.DataFrame(rows).astype("string")])
def test_every_container_is_read_alike(make: Any) -> None:
    table = iso.FeatureTable()
    numbers = table.fit_transform(make(ACCOUNTS))
    assert kinds(table) == KINDS
    wanted = iso.FeatureTable().fit_transform(ACCOUNTS)
    assert issparse(numbers)
    np.testing.assert_allclose(numbers.toarray(), wanted.toarray())
    assert "age" in str(table)
    assert "left out: identifier" in str(table)


def test_numbers_are_those_of_scikit_learn_and_of_numpy() -> None:
    table = iso.FeatureTable(columns=["country", "age"])
    found = table.fit_transform(ACCOUNTS).toarray()
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(np.array(ACCOUNTS["country"])[:, None])
    np.testing.assert_array_equal(found[:, 2:], one_hot)
    ages = np.array([np.nan if age is None else age for age in ACCOUNTS["age"]])
    low, middle, high = np.nanpercentile(ages, [25, 50, 75])
    scaled = (ages - middle) / ((high - low) / 1.349)
    np.testing.assert_allclose(found[:, 0], np.nan_to_num(scaled / np.sqrt(1 + scaled**2 / 9)))
    np.testing.assert_array_equal(found[:, 1], np.isnan(ages))
    assert table.get_feature_names_out()[:2].tolist() == ["age", "age is missing"]


def test_texts_have_the_weights_of_their_words() -> None:
    words = ["red", "apple", "pear", "saw", "nail", "green", "steel", "wood"]
    texts = [" ".join(RNG.choice(words, 4)) for _ in range(200)]
    table = iso.FeatureTable()
    found = table.fit_transform({"body": texts})
    wanted = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    assert table.columns_[0].kind == "text"
    np.testing.assert_allclose(found.toarray(), wanted.toarray())


def test_categories_with_rare_and_with_many_values() -> None:
    common = ["x"] * 500 + ["y"] * 497
    table = iso.FeatureTable()
    found = table.fit_transform({"kind": [*common, "p", "q", "r"], "other": [*common[::-1], "x", "x", "x"]})
    assert kinds(table)["kind"] == "category, 5 values (3 rare)"
    assert found[-3:, 0:3].toarray().tolist() == [[0, 0, 1]] * 3, "rare values share a column"
    assert table.transform({"kind": ["new"], "other": ["x"]})[0, 2] == 1, "an unknown value counts as rare"
    towns = RNG.choice([f"town{place}" for place in range(100)], 1000)
    hashed = iso.FeatureTable().fit(pd.DataFrame({"town": towns}))
    assert kinds(hashed)["town"] == "category, 100 values, hashed to 256"
    rows = hashed.transform(pd.DataFrame({"town": towns})).toarray()
    assert (rows.sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False, True, True], "category, 2 values"),
        ([date(2020, 1, 1), date(2021, 1, 1), None], "date, 1 missing"),
        (["01.02.2020", "13.02.2020", "1.3.2021"], "date"),
        (["1/2/2020", "1/13/2020"], "date"),
        (["2020-01-01 10:00", "2020-01-02T11:30:05"], "date"),
        (["2020-13-45", "2020-01-02"], "category, 2 values"),
        (["00123", "00124", "00123"], "category, 2 values"),
        (["1.5", "NA", "2"], "number, 1 missing"),
        (["1,5", "2", "3,25"], "number"),
        ([[1.0, 2.0], [3.0, 4.0]], "vector, 2 numbers"),
        (pd.Series([1, None, 3], dtype="Int64"), "number, 1 missing"),
        (pd.Series(["a", None, "b"], dtype="category"), "category, 2 values, 1 missing"),
        (pl.Series([datetime(2020, 1, 1), None]), "date, 1 missing"),
        (np.array(["2020-01-01", "NaT"], "datetime64[D]"), "date, 1 missing"),
        (np.array([1, "NaT", 3], "timedelta64[h]"), "number, 1 missing"),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), "vector, 2 numbers"),
    ],
    ids=range(16),
)
def test_what_a_column_is_read_as(values: Any, kind: str) -> None:
    assert kinds(iso.FeatureTable().fit({"x": values}))["x"] == kind


def test_dates_are_days_whatever_their_form() -> None:
    forms = [["2020-01-01", "2020-01-11", "2020-03-01"], ["1.1.2020", "11.1.2020", "1.3.2020"]]
    forms.append(["1/1/2020", "1/11/2020", "3/1/2020"])
    read: Any = [iso.FeatureTable().fit({"x": form}).encoders_["x"] for form in (*forms[:2], [*forms[2], "1/31/2020"])]
    assert read[0].center == read[1].center == (date(2020, 1, 11) - date(1970, 1, 1)).days
    assert read[2].center == (date(2020, 1, 21) - date(1970, 1, 1)).days, "month first, as 1/31 shows"


def test_a_numbering_is_no_quantity_but_may_be_asked_for() -> None:
    rows = {"row_id": RNG.permutation(30), "age": RNG.integers(20, 60, 30), "n": np.arange(7, 37)}
    table = iso.FeatureTable().fit(rows)
    assert [column.kind for column in table.columns_] == ["", "number", ""]
    assert [column.kind for column in iso.FeatureTable(columns=["row_id"]).fit(rows).columns_] == ["number", "", ""]
    ignoring = iso.FeatureTable(ignore=["age"], columns=["row_id", "age"]).fit(rows)
    assert kinds(ignoring)["age"] == "left out: ignored"
    assert clone(ignoring).get_params() == ignoring.get_params()


def test_complete_numbers_stay_as_they_are() -> None:
    rows = RNG.normal(size=(9, 3))
    np.testing.assert_array_equal(iso.FeatureTable().fit_transform(rows), rows)


def test_numbers_of_every_style() -> None:
    english = iso.FeatureTable().fit_transform({"x": ["1,033.17", "12", "7.5"]})
    german = iso.FeatureTable().fit_transform({"x": ["1.033,17", "12", "7,5"]})
    np.testing.assert_array_equal(english, german)
    np.testing.assert_array_equal(english[:, 0], [1033.17, 12, 7.5])
    unclear = {"x": ["1,284", "2,500"]}
    with pytest.raises(
        ValueError, match=r"1,284 in the column 'x' may be a thousand or a fraction: set thousands=True"
    ):
        iso.FeatureTable().fit(unclear)
    assert iso.FeatureTable(thousands=True).fit_transform(unclear).tolist() == [[1284], [2500]]
    assert iso.FeatureTable(decimal=",").fit_transform(unclear).tolist() == [[1.284], [2.5]]
    both = {"x": ["1.284", "2.500"], "y": ["112,85", "7,5"]}
    with pytest.raises(ValueError, match=r"1.284 in the column 'x' may be a thousand .* since 'y' has decimal commas"):
        iso.FeatureTable().fit(both)
    assert iso.FeatureTable(decimal=",").fit_transform(both).tolist() == [[1284, 112.85], [2500, 7.5]]
    assert find_style(["one", "2"]) is None


@pytest.mark.parametrize(
    ("how", "table", "sentence"),
    [
        ({}, {"x": [1.0, np.inf]}, "the column 'x' has a value in row 2 that is infinite"),
        ({}, {"x": ["a", "a"]}, r"no column of the table can be used \('x': one value only\): name some with"),
        ({"columns": ["y"]}, {"x": [1, 2]}, "no column named 'y' for feature_columns: there are 'x'"),
        ({"decimal": ";"}, {"x": [1, 2]}, "decimal=';', but it must be"),
        ({}, {"x": [[1, 2], [1]]}, "the list in row 2 of the column 'x' is missing or has another length"),
        ({}, pd.DataFrame([[1, 2]], columns=["x", "x"]), "two columns of the same name: rename one of them"),
        ({}, np.ones((2, 2, 2)), r"a table must have two dimensions, not the shape \(2, 2, 2\)"),
        ({"text": "x"}, {"x": [[1, 2], [3, 4]]}, "the column 'x' holds lists, not texts: choose another column"),
        ({"text": "x"}, {"x": ["?", "!"]}, "a column of texts has no words: choose another column with text"),
    ],
)
def test_what_is_wrong_is_said(how: dict[str, Any], table: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        iso.FeatureTable(**how).fit(table)


def test_other_rows_are_read_in_the_same_way() -> None:
    table = iso.FeatureTable().fit(ACCOUNTS)
    rows = {name: values[:3] for name, values in ACCOUNTS.items()}
    np.testing.assert_allclose(table.transform(rows).toarray(), table.transform(ACCOUNTS).toarray()[:3])
    with pytest.raises(ValueError, match="the column 'age' has 'old', which is no number"):
        table.transform({**rows, "age": ["old", "20", "30"]})
    with pytest.raises(ValueError, match="no column 'age', which it had before"):
        table.transform({name: values for name, values in rows.items() if name != "age"})
    with pytest.raises(ValueError, match="'opened' holds a number now, and held a date before: give it"):
        table.transform({**rows, "opened": [1, 2, 3]})


def test_numbers_can_be_read_as_texts() -> None:
    table = iso.FeatureTable(text="code")
    numbers = table.fit_transform({"code": [1200.0, 75.0, np.nan], "age": [1, 2, 3]})
    assert table.get_feature_names_out().tolist() == ["code: 1200", "code: 75"]
    np.testing.assert_array_equal(numbers.toarray(), [[1, 0], [0, 1], [0, 0]])
    again = table.transform({"code": [75]})
    np.testing.assert_array_equal(again.toarray(), [[0, 1]])


def test_vectors_beside_other_columns_have_length_one_on_average() -> None:
    vectors = RNG.normal(3, 2, size=(50, 4))
    table = iso.FeatureTable()
    numbers = table.fit_transform({"embedding": vectors, "country": RNG.choice(["FR", "DE"], 50)}).toarray()
    assert table.get_feature_names_out()[2:].tolist() == [f"embedding[{place}]" for place in (1, 2, 3, 4)]
    centred = vectors - vectors.mean(axis=0)
    np.testing.assert_allclose(numbers[:, 2:], centred / np.sqrt((centred**2).sum(axis=1).mean()))


def test_a_table_that_was_not_fitted_shows_its_parameters() -> None:
    assert str(iso.FeatureTable(text="note")) == "FeatureTable(text='note')"


def test_times_of_a_zone_are_those_of_greenwich() -> None:
    """Pandas keeps such a column as objects; NumPy would warn about each of them."""
    naive = pd.Series(pd.date_range("2024-01-01", periods=6, freq="7D"))
    zoned = naive.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    frames = [
        {"when": naive},
        {"when": zoned},
        {"when": zoned.astype(object)},
        {"when": [each.to_pydatetime() for each in zoned]},
    ]
    first, *others = [iso.FeatureTable().fit_transform(pd.DataFrame(frame)).toarray() for frame in frames]
    for found in others:
        np.testing.assert_allclose(found, first)


def test_a_table_of_ids_alone_is_refused() -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    with pytest.raises(ValueError, match="there is none besides ids"):
        iso.NodeClassifier().fit(graph, {"a": 0, "c": 1}, features=pd.DataFrame({"account": ["a", "b", "c"]}))


def test_ids_are_found_in_a_column_though_rows_were_dropped_or_joined() -> None:
    """What pandas leaves as the index then counts rows of other tables, and has no node."""
    names = [f"{place:03d}" for place in range(30)]
    graph = iso.Graph.from_edges(names, [*names[1:], names[0]])
    table = pd.DataFrame({"account": names, "size": np.arange(30.0) % 7, "country": ["DE", "FR", "US"] * 10})
    expected = read_node_features(table, graph).rows.toarray()
    parts = pd.concat([table[:10], table[10:].reset_index(drop=True)])
    np.testing.assert_array_equal(read_node_features(parts, graph).rows.toarray(), expected)
    some = pd.concat([table[table["size"] > 1], table[:1].assign(account="nobody")])
    with pytest.warns(FileWarning, match="1 of 21 rows are no nodes"):
        read_node_features(some, graph)
    by_index = parts.set_index("account")
    np.testing.assert_array_equal(read_node_features(by_index, graph).rows.toarray(), expected)
