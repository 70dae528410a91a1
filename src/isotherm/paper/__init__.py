"""The paper reproduced: one call, `reproduce`, runs its figures and tables and writes a report.

Names of experiments and a folder of graphs come in; a report and the scores of every run go out. Read ``figure1.py``
first: it is the Karate Club, also a program of its own. ``block_model.py`` is the model of section 4. What is run is in
``block_experiments.py`` and ``graph_experiments.py``; ``scoring.py`` turns seeds into scores in the two protocols, and
``runner.py`` runs it all. ``verdicts.py`` compares the scores with the published numbers, and ``report.py`` writes them
down, with ``sections.py`` and ``document.py``.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.paper.experiment import PROTOCOLS, Experiment

if TYPE_CHECKING:
    from isotherm.paper.runner import Progress

__all__ = ["names", "reproduce"]


def names() -> list[str]:
    """All experiments, in the order of the report."""
    from isotherm.paper.runner import EXPERIMENTS

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
    progress: "Progress | None" = None,
) -> Path:
    """Run experiments of the paper, and write a report that compares each number with the published one.

    If a call is interrupted, even by a kill, the same call continues where it stopped. In a script, call it under
    ``if __name__ == "__main__":`` unless `processes` is 1.

    Parameters
    ----------
    wanted : str or sequence of str
        Names of experiments (see `names`), or "all".
    out : path
        Folder for the report, ``report.html`` and ``report.md``, and for the score of every run, ``runs/*.csv``.
    data : path, optional
        A folder of graphs; by default the environment variable ``ISOTHERM_DATA``. Missing graphs are downloaded.
    runs : int
        How often each setting is repeated.
    protocols : sequence of str
        "authors" (exactly what the paper's programs do), "corrected" (what the paper's text says), or both.
    processes : int
        Number of worker processes, of one thread each.
    seed : int
        Seed of all random generators.
    progress : callable, optional
        Called after each run with the number of finished runs, the number of all runs, and the name of the last one.

    Returns
    -------
    Path
        The path of ``report.html``.
    """
    from isotherm.paper.graph_experiments import forget
    from isotherm.paper.pictures import need_libraries
    from isotherm.paper.report import Conditions, build_report, write_report
    from isotherm.paper.runner import run_experiments

    experiments = _chosen(wanted)
    unknown = [name for name in protocols if name not in PROTOCOLS]
    if unknown or not protocols:
        raise ValueError(f"there is no protocol {unknown[0] if unknown else ''!r}: choose authors, corrected or both")
    if runs < 1:
        raise ValueError(f"runs={runs}, but at least one is needed")
    need_libraries()
    forget()
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
    return write_report(build_report(results, Conditions(runs, seed, processes)), folder)


def _chosen(wanted: str | Sequence[str]) -> list[Experiment]:
    from isotherm.paper.runner import EXPERIMENTS

    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    if "all" in asked:
        return list(EXPERIMENTS.values())
    for name in asked:
        if name not in EXPERIMENTS:
            raise ValueError(f"there is no experiment {name!r}: choose all, or some of {', '.join(EXPERIMENTS)}")
    return [experiment for name, experiment in EXPERIMENTS.items() if name in asked]
