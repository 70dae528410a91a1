"""All experiments by name; run in parallel processes, every finished run stored, so that a later call continues."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeAlias

from isotherm.paper import block_experiments, figure1, graph_experiments
from isotherm.paper.experiment import PROTOCOLS, Data, Draw, Experiment, Measurement, Results, Setting, Store

Progress: TypeAlias = Callable[[int, int, str], None]  # finished runs, all runs, name of the last one
AHEAD = 4  # jobs queued for each process

EXPERIMENTS: dict[str, Experiment] = {  # in the order of the report
    experiment.name: experiment
    for experiment in (
        figure1.EXPERIMENT,
        *block_experiments.FIGURES_2_AND_3,
        *graph_experiments.EXPERIMENTS,
        block_experiments.SBM,
    )
}


class Job(NamedTuple):
    """One run of one setting."""

    experiment: Experiment
    setting: Setting
    run: int

    @property
    def name(self) -> str:
        """The name shown in progress messages."""
        return " ".join(filter(None, (self.experiment.name, *self.setting, f"run {self.run + 1}")))

    def measure(self, seed: int, data: Data) -> list[Measurement]:
        """Run it, with random numbers of its own."""
        draw = Draw.of(seed, self.experiment.name, self.setting.case, self.run)
        return list(self.experiment.run(self.setting, draw, data))


def run_experiments(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    data: Data,
    protocols: Sequence[str],
    runs: int,
    seed: int,
    processes: int,
    progress: Progress | None = None,
) -> dict[str, Results]:
    """Run what was not run before, and return all results by experiment name."""
    stores = {experiment.name: Store(folder / f"{experiment.name}.csv", seed) for experiment in experiments}
    results = {name: store.load() for name, store in stores.items()}
    jobs = [
        Job(experiment, setting, run)
        for experiment in experiments
        for protocol in experiment.protocols
        if protocol in protocols or protocol not in PROTOCOLS
        for setting in experiment.settings(protocol, data)
        for run in range(experiment.times * runs if experiment.repeated else 1)
    ]
    for name, found in results.items():
        found.arrange(job.setting for job in jobs if job.experiment.name == name)
    waiting = [job for job in jobs if (job.setting, job.run) not in results[job.experiment.name].finished]
    done = len(jobs) - len(waiting)
    for job, measured in _measured(waiting, seed, data, processes):
        name = job.experiment.name
        stores[name].append(job.setting, job.run, measured)
        results[name].add(job.setting, job.run, measured)
        done += 1
        if progress is not None:
            progress(done, len(jobs), job.name)
    return results


def _measured(jobs: Sequence[Job], seed: int, data: Data, processes: int) -> Iterator[tuple[Job, list[Measurement]]]:
    """Jobs with their measurements, in the order in which they finish."""
    if processes <= 1 or len(jobs) <= 1:
        yield from ((job, job.measure(seed, data)) for job in jobs)
        return
    queue = iter(jobs)
    pending: dict[Future[list[Measurement]], Job] = {}
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        while True:
            for job in queue:
                pending[pool.submit(_work, job.experiment.name, job.setting, job.run, seed, data)] = job
                if len(pending) >= AHEAD * processes:
                    break
            if not pending:
                return
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                yield pending.pop(future), future.result()
    except BrokenProcessPool as error:
        message = "a process ended before its run, perhaps for lack of memory; all finished runs are kept"
        raise RuntimeError(f"{message}: run the same command again to go on") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _work(name: str, setting: Setting, run: int, seed: int, data: Data) -> list[Measurement]:
    """Run one job in a worker process; the functions of an experiment cannot be sent there, only its name."""
    return Job(EXPERIMENTS[name], setting, run).measure(seed, data)
