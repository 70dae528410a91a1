"""A case as analysts have it: ids with leading zeros, amounts with commas, gaps, verdicts as people type them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, runner
from sklearn.metrics import f1_score

import isotherm as iso

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")
N, ALONE = 600, 20  # accounts, of which the last have no payments


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A tenth of the accounts is fraudulent; links tell a little, and country, text and age some more."""
    run = runner(tmp_path, capfd, monkeypatch)
    rng = np.random.default_rng(3)
    fraud = rng.random(N) < 0.15
    names = np.array([f"{100_000 + place:08}" for place in range(N)])
    payer = rng.integers(0, N - ALONE, 3000)
    groups = [np.flatnonzero(fraud[: N - ALONE] == side) for side in (False, True)]
    same = rng.random(3000) < 0.4
    payee = np.where(same, [rng.choice(groups[int(fraud[i])]) for i in payer], rng.integers(0, N - ALONE, 3000))
    amounts = [f"{amount:,.2f}" for amount in rng.lognormal(5, 2, 3000)]
    pl.DataFrame({"sender": names[payer], "receiver": names[payee], "amount": amounts}).write_csv("payments.csv")
    country = np.where(rng.random(N) < 0.6, np.where(fraud, "CY", "FR"), rng.choice(["DE", "US", "CY", "FR"], N))
    job = np.where(
        rng.random(N) < 0.6, np.where(fraud, "shell trading", "bakery"), rng.choice(["student", "bakery"], N)
    )
    age = [None if rng.random() < 0.1 else int(each) for each in rng.integers(18, 80, N)]
    accounts = {
        "account_id": names,
        "country": country,
        "age": age,
        "balance": [f"{x:,.2f}" for x in rng.lognormal(8, 2, N)],
    }
    accounts |= {"opened": [f"20{y:02}-05-01" for y in rng.integers(5, 24, N)], "job": job, "bank": ["ours"] * N}
    pl.DataFrame(accounts).write_csv("accounts.csv")
    known = rng.choice(N - ALONE, 120, replace=False)
    typed = {False: ["OK", "ok", "OK "], True: ["Fraud", "fraud", "fraud "]}
    verdicts = [typed[bool(fraud[i])][k % 3] for k, i in enumerate(known)]
    verdicts[5], verdicts[6], verdicts[7] = "pending", "nan", ""
    review = {"Account": names[known], "Reviewer": rng.choice(["Jo", "Al"], 120), "Verdict": verdicts}
    pl.DataFrame({**review, "Comment": ["see case 12" if k % 9 == 0 else "" for k in range(120)]}).write_csv(
        "review.csv"
    )
    pl.DataFrame({"account": names, "verdict": np.where(fraud, "fraud", "ok")}).write_csv("truth.csv")
    return run


FILES = ["payments.csv", "review.csv", "--thousands", "--weight", "amount"]
MEANT = ["--normalise-labels", "--unknown", "pending"]


def f1() -> float:
    found, truth = (pl.read_csv(name, infer_schema=False) for name in ("out.csv", "truth.csv"))
    known = set(pl.read_csv("review.csv", infer_schema=False)["Account"])
    both = truth.join(found, left_on="account", right_on="node").filter(~pl.col("account").is_in(known))
    return float(f1_score(both["verdict"] == "fraud", (both["label"] == "fraud").fill_null(value=False)))


def test_attributes_help_and_every_column_is_listed(run: Run) -> None:
    assert run("classify", *FILES, *MEANT, "-o", "out.csv").status == 0
    links = f1()
    outcome = run("classify", *FILES, *MEANT, "--features", "accounts.csv", "--force", "-o", "out.csv", "--json")
    assert outcome.status == 0, outcome.err
    assert f1() > links + 0.1
    summary = json.loads(outcome.out)
    read = summary["feature_columns"]
    assert read["country"] == "category, 4 values"
    assert read["age"].startswith("number, ")
    assert (read["balance"], read["opened"], read["bank"]) == ("number", "date", "left out: one value only")
    assert "balance      number" in outcome.err.replace("balance  number", "balance      number")
    shares = summary["column_influence"]
    assert shares["country"]["features"] > 4 * shares["opened"]["features"]
    for expert in ("features", "neighbours"):
        assert sum(share[expert] for share in shares.values()) == pytest.approx(1)


def test_accounts_without_links_are_nodes_and_get_labels(run: Run) -> None:
    options = ["--features", "accounts.csv", "-o", "out.csv", "--strict"]
    outcome = run("classify", *FILES, *MEANT, *options)
    found = pl.read_csv("out.csv", infer_schema=False)
    assert outcome.status == 3, "a warning says that nan is left out"
    assert len(found) == N
    assert found["label"].null_count() == 0
    assert "labelled by other evidence" in outcome.err
    assert "have no temperature" not in outcome.err
    run("classify", *FILES, *MEANT, "--nodes", "accounts.csv", "--force", "-o", "out.csv")
    assert pl.read_csv("out.csv")["label"].null_count() == ALONE
    graph = iso.read_graph("payments.csv", weight="amount", thousands=True, nodes="accounts.csv")
    assert graph.n_nodes == N


def test_chosen_columns(run: Run) -> None:
    usual = [*FILES, *MEANT, "--features", "accounts.csv", "--force", "-o", "out.csv", "--json"]
    read = json.loads(run("classify", *usual, "--feature-columns", "country,bank").out)["feature_columns"]
    assert {name for name, how in read.items() if "left out" not in how} == {"country"}
    read = json.loads(run("classify", *usual, "--ignore-columns", "country").out)["feature_columns"]
    assert read["country"] == "left out: ignored"
    assert read["age"].startswith("number")


def test_verdicts_as_people_type_them(run: Run) -> None:
    outcome = run("classify", *FILES, "-o", "out.csv", "--json")
    assert outcome.status == 0
    assert "review.csv: node=col 1 (Account), label=col 3 (Verdict)" in outcome.err
    assert "'Fraud' and 'fraud' and 'fraud ', 'OK' and 'OK ' and 'ok' are different classes" in outcome.err
    assert "or set --normalise-labels" in outcome.err
    assert "'pending' is a class, though it looks like a missing label" in outcome.err
    assert "--unknown pending" in outcome.err
    assert "1 row with the label 'nan' left out" in outcome.err
    meant = ["--normalise-labels", "--unknown", "pending,nan"]
    outcome = run("classify", *FILES, *meant, "--force", "-o", "out.csv", "--json")
    assert list(json.loads(outcome.out)["counts"]) == ["fraud", "ok"]
    assert json.loads(outcome.out)["warnings"] == []
    seeds = iso.read_seeds("review.csv", normalise_labels=True, unknown=["pending", "nan"])
    assert set(seeds.values()) == {"fraud", "ok"}
    assert len(seeds) == 117
    _, again = iso.read_labelled(
        "payments.csv", "review.csv", weight="amount", thousands=True, normalise_labels=True, unknown=["pending", "nan"]
    )
    assert again == seeds


def test_columns_are_found_by_what_they_hold(run: Run) -> None:
    review = pl.read_csv("review.csv", infer_schema=False).rename({"Account": "Konto", "Verdict": "Ergebnis"})
    review = review.with_columns(pl.Series("Fall", [f"F{place}" for place in range(len(review))]))
    review.select("Fall", "Konto", "Reviewer", "Ergebnis", "Comment").write_csv("pruefung.csv")
    outcome = run("classify", "payments.csv", "pruefung.csv", *FILES[2:], "-o", "out.csv")
    assert outcome.status == 0, outcome.err
    assert "pruefung.csv: node=col 2 (Konto), label=col 4 (Ergebnis)" in outcome.err
    review.with_columns(Stufe=pl.Series(["hoch", "tief"] * 60)).write_csv("unclear.csv")
    outcome = run("classify", "payments.csv", "unclear.csv", *FILES[2:], "-o", "other.csv")
    assert outcome.status == 2
    assert "--node Konto --label Ergebnis" in outcome.err


def test_thousands_in_a_file_with_decimal_commas_are_a_question(run: Run) -> None:
    Path("umsatz.csv").write_text("von;to;Betrag;Gebuehr\na;b;1.284;0,50\nb;c;2.100;1,25\n")
    Path("seeds.csv").write_text("node,label\na,x\nc,y\n")
    files = ["umsatz.csv", "seeds.csv", "--source", "von", "--target", "to", "--weight", "Betrag"]
    outcome = run("classify", *files)
    assert outcome.status == 2
    assert "1.284 may be a thousand or a fraction, since there are decimal commas, such as 0,50" in outcome.err
    assert "--decimal ," in outcome.err
    assert run("classify", *files, "--decimal", ",").status == 0
    whole = iso.read_graph("umsatz.csv", source="von", target="to", weight="Betrag", decimal=",")
    assert sorted(whole.adjacency.data) == [1284, 1284, 2100, 2100]
    part = iso.read_graph("umsatz.csv", source="von", target="to", weight="Betrag", decimal=".")
    assert sorted(part.adjacency.data) == [1.284, 1.284, 2.1, 2.1]
    outcome = run("classify", *files[:-1], "Gebuehr")
    assert outcome.status == 2
    assert "the weight is '0,50'" in outcome.err
    assert "--decimal , if the comma is a decimal sign" in outcome.err


def test_compare_and_classify_leave_out_missing_seeds_alike(run: Run) -> None:
    text = Path("truth.csv").read_text()
    Path("truth.csv").write_text(f"{text}nobody,ok\n")
    usual = ["payments.csv", "truth.csv", "--weight", "amount", "--thousands", "--runs", "1", "--no-peers", "--nodes"]
    outcome = run("compare", *usual, "accounts.csv")
    assert outcome.status == 2
    assert "--ignore-missing-seeds" in outcome.err
    assert run("compare", *usual, "accounts.csv", "--ignore-missing-seeds").status == 0
