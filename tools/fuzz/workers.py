"""Cases in processes of their own, so that a crash is counted and does not end the run, and a hang is ended.

A case may use so many seconds of a processor, because the machine may be busy with something else. One that waits for
ever uses none, so there is a limit for the time on the wall, too.
"""

import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import TypeAlias

__all__ = ["Job", "Pool", "Tally"]

Job: TypeAlias = tuple[Callable[..., str | None], tuple[object, ...]]

START = 100.0  # more seconds of a processor for the imports of a process, and for its first case
PATIENCE = 10  # times the limit is what a case may take by the clock on the wall
TICKS = os.sysconf("SC_CLK_TCK")
ADDRESS_SPACE = 8 << 30  # of a process, so that a damaged file cannot fill the machine
FULL = ADDRESS_SPACE // 2  # libraries keep what they reserved for one file: above this a process is replaced
CONTEXT = multiprocessing.get_context("spawn")


@dataclass
class Tally:
    """How the cases of one kind ended."""

    cases: int = 0
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How many cases did not end well."""
        return len(self.crashes) + len(self.hangs) + len(self.wrong)


class _Worker:
    """A process that answers one case after the other."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.job: Job | None = None
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.fresh = True

    def give(self, job: Job) -> None:
        if _address_space(self.process.pid) > FULL:
            self.restart()
        self.job = job
        allowed = self.limit + START * self.fresh
        self.most = _seconds(self.process.pid) + allowed
        self.deadline = monotonic() + PATIENCE * allowed
        self.fresh = False
        self.pipe.send(job)

    def hangs(self) -> bool:
        """Whether the case has had its time."""
        return monotonic() > self.deadline or _seconds(self.process.pid) > self.most

    def restart(self) -> int | None:
        """End the process and begin another; how the old one ended."""
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.pipe.close()
        self._start()
        return code


def _address_space(pid: int | None) -> int:
    """Bytes that a process has reserved; 0 for one that has ended, or where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize()


def _seconds(pid: int | None) -> float:
    """Seconds of a processor that a process has used; 0 for one that has ended, or where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS  # in user and in system mode


def _serve(pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with open(os.devnull, "w") as nothing:  # polars reports panics there, which the readers catch
        os.dup2(nothing.fileno(), 2)
    while True:
        try:
            call, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(call(*arguments))
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")


class Pool:
    """Some processes, each of which has so many seconds of a processor for a case."""

    def __init__(self, workers: int, limit: float) -> None:
        self._workers = [_Worker(limit) for _ in range(workers)]

    def run(self, jobs: Iterator[Job]) -> Tally:
        """Run all jobs."""
        tally = Tally()
        for worker in self._workers:
            worker.fresh = True  # the first case of a kind makes the files that all others change
        while busy := [worker for worker in self._workers if worker.job is not None or _next(worker, jobs)]:
            ready = wait([worker.pipe for worker in busy], timeout=1)
            for worker in busy:
                if worker.pipe in ready:
                    _take(worker, tally)
                elif worker.hangs():
                    tally.hangs.append(_name(worker.job))
                    _done(worker, tally)
                    worker.restart()
        return tally

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.process.kill()


def _next(worker: _Worker, jobs: Iterator[Job]) -> bool:
    job = next(jobs, None)
    if job is not None:
        worker.give(job)
    return job is not None


def _take(worker: _Worker, tally: Tally) -> None:
    name = _name(worker.job)
    _done(worker, tally)
    try:
        fault = worker.pipe.recv()
    except (EOFError, ConnectionError):
        worker.process.join(5)
        tally.crashes.append(f"{name}: exit status {worker.restart()}")
        return
    if fault:
        tally.wrong.append(f"{name}: {fault}")


def _done(worker: _Worker, tally: Tally) -> None:
    worker.job = None
    tally.cases += 1


def _name(job: Job | None) -> str:
    assert job is not None
    return f"{job[0].__module__}.{job[0].__name__}{job[1]}"
