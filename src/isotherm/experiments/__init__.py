"""The paper's figures and tables, one module each, run by one call: `reproduce`."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from isotherm.experiments.base import PROTOCOLS, Experiment
from isotherm.experiments.runner import Progress

__all__ = ["names", "reproduce"]


def names() -> list[str]:
    """All experiments, in the order of the report."""
    from isotherm.experiments.catalogue import EXPERIMENTS

    return list(EXPERIMENTS)


def reproduce(
    wanted: str | Sequence[str] = "all",
    *,
    out: str | os.PathLike[str] = "out",
    data: str | os.PathLike[str] | None = None,
    runs: int = 10,
    protocols: Sequence[str] = PROTOCOLS,
    processes: int = 2,
    seed: int = 0,
    progress: Progress | None = None,
) -> Path:
    """Run experiments of the paper, and write a report that sets each number beside the published one.

    A call that is stopped, even by a kill, can be made again: it goes on where the other stopped. From a program of
    your own, call it under ``if __name__ == "__main__":`` unless `processes` is 1.

    Parameters
    ----------
    wanted : str or sequence of str
        Names of experiments (see `names`), or "all".
    out : path
        Folder for the report, ``report.html`` and ``report.md``, and for the score of every run, ``runs/*.csv``.
    data : path, optional
        A folder of graphs; by default the environment variable ``ISOTHERM_DATA``. What is not there is downloaded.
    runs : int
        How often each setting is repeated.
    protocols : sequence of str
        "authors" (the paper's own programs, to the letter), "corrected" (the paper's text), or both.
    processes : int
        How many processes share the work, each with one thread.
    seed : int
        From which all randomness comes.
    progress : callable, optional
        Called after each run with the number of runs finished, that of all, and the name of the last one.

    Returns
    -------
    Path
        The page.
    """
    from isotherm.experiments.real_graphs import forget
    from isotherm.experiments.report import Conditions, build_report, write_report
    from isotherm.experiments.report.plots import need_matplotlib
    from isotherm.experiments.runner import run_experiments

    experiments = _chosen(wanted)
    _check(protocols, runs)
    need_matplotlib()
    forget()
    began = time.perf_counter()
    folder = Path(out)
    results = run_experiments(
        experiments,
        folder / "runs",
        data=None if data is None else Path(data),
        protocols=protocols,
        runs=runs,
        seed=seed,
        processes=processes,
        progress=progress,
    )
    conditions = Conditions(runs, seed, processes, time.perf_counter() - began)
    return write_report(build_report(results, conditions), folder)


def _chosen(wanted: str | Sequence[str]) -> list[Experiment]:
    from isotherm.experiments.catalogue import EXPERIMENTS

    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    if "all" in asked:
        return list(EXPERIMENTS.values())
    for name in asked:
        if name not in EXPERIMENTS:
            raise ValueError(f"there is no experiment {name!r}: choose all, or some of {', '.join(EXPERIMENTS)}")
    return [experiment for name, experiment in EXPERIMENTS.items() if name in asked]


def _check(protocols: Sequence[str], runs: int) -> None:
    unknown = [name for name in protocols if name not in PROTOCOLS]
    if unknown or not protocols:
        raise ValueError(f"there is no protocol {unknown[0] if unknown else ''!r}: choose authors, corrected or both")
    if runs < 1:
        raise ValueError(f"runs={runs}, but at least one is needed")
