"""The files of results hold complete runs only, even after a kill."""

from pathlib import Path

import pytest

from isotherm.paper.experiment import Measurement, Setting, Store, Summary

SETTING = Setting("authors", "two blocks, or three")
RUN = [Measurement(1.0, "centered", "all nodes, columns as classes", 0.1 + 0.2), Measurement(2.0, "", "lost", 3.0)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs" / "figure2a.csv", seed=0)


def test_numbers_come_back_to_the_last_bit(store: Store) -> None:
    store.append(SETTING, 0, RUN)
    store.append(SETTING, 1, [m._replace(value=m.value * 2) for m in RUN])
    results = store.load()
    assert results.finished == {(SETTING, 0), (SETTING, 1)}
    assert results.values(*SETTING, "centered", "all nodes, columns as classes", 1.0).tolist() == [
        0.1 + 0.2,
        0.6000000000000001,
    ]
    assert results.summary(*SETTING, "", "lost", 2.0) == Summary(4.5, 1.5, 2)
    assert results.cases("authors") == ["two blocks, or three"]
    assert results.axis(*SETTING) == [1.0, 2.0]
    assert results.summary(*SETTING, "vanilla", "lost", 2.0) is None


def test_the_file_can_be_read_by_anyone(store: Store) -> None:
    import pandas as pd

    store.append(SETTING, 0, RUN)
    frame = pd.read_csv(store.path, float_precision="round_trip")
    assert frame["case"].tolist() == ["two blocks, or three"] * 2
    assert frame["value"].tolist() == [0.1 + 0.2, 3.0]


def test_nothing_yet_is_no_results(store: Store) -> None:
    assert not store.load().finished


def test_a_block_cut_anywhere_is_dropped_and_the_others_stay(store: Store) -> None:
    store.append(SETTING, 0, RUN)
    whole = store.path.read_bytes()
    store.append(SETTING, 1, RUN)
    both = store.path.read_bytes()
    for end in range(len(whole), len(both)):
        store.path.write_bytes(both[:end])
        assert store.load().finished == {(SETTING, 0)}
        assert store.path.read_bytes() == whole
    for end in range(len(whole)):
        store.path.write_bytes(whole[:end])
        assert not store.load().finished


def test_runs_go_on_after_a_cut(store: Store) -> None:
    store.append(SETTING, 0, RUN)
    store.append(SETTING, 1, RUN)
    both = store.path.read_bytes()
    store.path.write_bytes(both[:-30])
    store.load()
    store.append(SETTING, 1, RUN)
    assert store.path.read_bytes() == both


def test_a_run_that_was_written_twice_counts_once(store: Store) -> None:
    store.append(SETTING, 0, RUN)
    store.append(SETTING, 0, RUN)
    assert store.load().values(*SETTING, "", "lost", 2.0).tolist() == [3.0]


def test_another_seed_starts_anew(store: Store) -> None:
    store.append(SETTING, 0, RUN)
    assert not Store(store.path, seed=1).load().finished
