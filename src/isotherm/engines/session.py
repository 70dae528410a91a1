"""The client's side: send a problem to the workers, watch them, and start again without those that are lost."""

import queue
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from isotherm.engines.checkpoints import Piece, complete_set, forget, known_pieces
from isotherm.engines.mailbox import Sent, Stopped, stop
from isotherm.engines.part import Rows, balanced_bounds
from isotherm.engines.worker import Found, Member, Question, drop, inspect, open_part, run_call, solve_part
from isotherm.equilibrium.options import Progress
from isotherm.equilibrium.solvers import Source
from isotherm.equilibrium.solvers.iterative import SINGLE_TOL
from isotherm.errors import Worded
from isotherm.graphs import Csr
from isotherm.graphs.packed import read_rows

LOOK = 0.25  # seconds between checks of the workers
WAIT = 60.0  # seconds to wait for a first worker
FRUITLESS = 4  # restarts without a new checkpoint after which the session gives up
ATTEMPTS = 3  # attempts of `restarting`

Result = TypeVar("Result")


class ClusterError(Worded, RuntimeError):
    """The cluster cannot do what was asked; the message names the remedy."""


class LostWorker(Exception):  # noqa: N818 - not an error, but a reason to start again
    """A worker is gone."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The matrix of a problem, and a folder that has the same rows if there is one."""

    key: str  # the same for the same matrix
    csr: Csr  # from a packed graph it is mapped, and only touched if workers do not see the folder
    folder: Path | None = None  # the packed graph
    token: str = ""  # the content of its manifest


class Session:
    """A connection to a cluster through a `distributed.Client`, with the matrix that its workers hold."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.resumed: list[int] = []  # iterations from which the last solve continued after the loss of a worker
        self.sent = Sent()  # bytes that all workers sent in the last solve
        self.iterations = 0  # iterations done by the last attempt of that solve
        self._placed: _Placed | None = None

    @property
    def restarts(self) -> int:
        """How often the last solve was started again."""
        return len(self.resumed)

    @property
    def addresses(self) -> list[str]:
        """The workers that hold rows, in the order of their rows."""
        return [] if self._placed is None else self._placed.addresses

    def solve(self, matrix: Matrix, whole: Question, progress: Progress | None = None) -> list[Found]:
        """Solve on all workers; returns what each found, in the order of their rows."""
        job, self.resumed = uuid.uuid4().hex, []
        pieces: list[Piece] = []
        tol = whole.request.options.tol
        single = tol is None or tol >= SINGLE_TOL
        try:
            while True:
                try:
                    question = replace(whole, job=job, attempt=self.restarts, pieces=tuple(pieces))
                    return self._ask(self._place(matrix, single=single), question, progress)
                except LostWorker as lost:
                    self._placed = None
                    time.sleep(LOOK)  # the scheduler notices it too
                    known = self._everywhere(known_pieces, job).values()
                    pieces = complete_set([piece for some in known for piece in some], matrix.csr.n)
                    self.resumed.append(pieces[0].iteration if pieces else 0)
                    if self.resumed.count(self.resumed[-1]) > FRUITLESS:  # always from the same iteration
                        raise ClusterError(
                            f"workers were lost again and again ({lost}), and no iteration in between was saved; "
                            "look into the logs of the workers, and give them more memory if that was short"
                        ) from None
        finally:
            self._everywhere(forget, job)

    def on_parts(self, name: str, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a function with the part that each worker keeps under a name; raises `LostWorker` if one is gone."""
        if self._placed is None:
            raise LostWorker("a worker")
        try:
            return self._together(run_call, self._placed, [(name, function, each) for each in arguments])
        except LostWorker:
            self._placed = None
            raise

    @property
    def bounds(self) -> list[int]:
        """The ranges of rows of the workers."""
        return [] if self._placed is None else self._placed.bounds

    @property
    def sees_folder(self) -> bool:
        """Whether all workers read their rows from the folder of the graph."""
        return self._placed is not None and self._placed.sees_folder

    def forget(self, name: str) -> None:
        """Delete what workers keep under a name."""
        self._everywhere(drop, "parts", name)

    def _ask(self, placed: "_Placed", question: Question, progress: Progress | None) -> list[Found]:
        parts = [part_of(question, *bounds) for bounds in zip(placed.bounds[:-1], placed.bounds[1:], strict=True)]
        found: list[Found] = self._together(solve_part, placed, parts, progress, question.job)
        self.sent = Sent(*np.sum([part.sent for part in found], axis=0).tolist())
        self.iterations = found[0].iterations
        return found

    def _place(self, matrix: Matrix, *, single: bool) -> "_Placed":
        """The workers with their rows, which are distributed again if workers, matrix or precision have changed."""
        workers, placed = self._workers(), self._placed
        same = placed is not None and placed.key == matrix.key and set(placed.addresses) == set(workers)
        if placed is not None and same and (single or not placed.single):
            return placed
        if placed is not None:
            self._everywhere(drop, "blocks", placed.key)
        self._placed = None
        folder = None if matrix.folder is None else str(matrix.folder.absolute())
        seen = self._everywhere(inspect, folder, matrix.token, required=True)
        addresses = [address for address in workers if address in seen]
        bounds = balanced_bounds(matrix.csr.indptr, len(addresses))
        sees_folder = all(seen[address] for address in addresses)
        placed = _Placed(matrix.key, addresses, bounds, sees_folder, single and matrix.csr.weights is not None)
        rows: list[Rows] = []
        for address, first, last in zip(addresses, bounds[:-1], bounds[1:], strict=True):
            if seen[address] and matrix.folder is not None:
                rows.append(partial(read_rows, matrix.folder.absolute(), first, last))
            else:
                rows.append(partial(Csr, *cut_rows(matrix.csr, first, last)))
        self._together(open_part, placed, [(single, each) for each in rows])
        self._placed = placed
        return placed

    def _workers(self) -> list[str]:
        """Addresses of the workers, after waiting for the first of them."""
        limit = time.monotonic() + WAIT
        while True:
            found = sorted(self._from_scheduler(self.client.nthreads))
            if found:
                return found
            if time.monotonic() > limit:
                raise ClusterError("the Dask cluster has no workers; start some, and try again")
            time.sleep(LOOK)

    def _from_scheduler(self, ask: Callable[..., dict[str, Any]], *arguments: Any, **more: Any) -> dict[str, Any]:
        """The scheduler's information about each worker, by address."""
        with suppress(OSError, RuntimeError, CancelledError):
            if self.client.status == "running":  # otherwise Dask would wait for the scheduler to come back
                return ask(*arguments, **more)
        raise ClusterError("the Dask scheduler does not answer any more; start the cluster again, and repeat this")

    def _everywhere(self, function: Callable[..., Any], *arguments: Any, required: bool = False) -> dict[str, Any]:
        """Call a function on each worker; workers that do not answer are left out, unless one is required."""
        found = self._from_scheduler(self.client.run, function, *arguments, on_error="return")
        answers = {address: value for address, value in found.items() if not isinstance(value, Exception)}
        if required and not answers:
            for error in found.values():
                if not isinstance(error, OSError):  # also what Dask raises for a worker that is gone
                    message = f"the workers cannot run isotherm ({error})"
                    raise ClusterError(f"{message}; install the same version there with isotherm[dask]")
            raise LostWorker(", ".join(found) or "all workers")
        return answers

    def _together(
        self,
        function: Callable[..., Any],
        placed: "_Placed",
        arguments: Sequence[Any],
        progress: Progress | None = None,
        topic: str = "",
    ) -> list[Any]:
        """Run a task on all workers at the same time, each with its own argument; returns what each gave."""
        session = uuid.uuid4().hex
        reports: queue.SimpleQueue[tuple[int, float]] = queue.SimpleQueue()
        if progress is not None:
            self.client.subscribe_topic(topic, lambda event: reports.put(event[1]))
        futures: list[Any] = []
        try:
            for rank, (address, argument) in enumerate(zip(placed.addresses, arguments, strict=True)):
                member = Member(session, placed.addresses, rank, placed.bounds, placed.key)
                content = self._scattered(argument, address)
                futures.append(self.client.submit(function, member, content, workers=[address], pure=False, retries=0))
            self._watch(futures, placed.addresses, reports, progress)
            return self._gathered(futures, placed.addresses)
        except BaseException:
            self._everywhere(stop, session)
            self.client.cancel(futures, force=True)
            raise
        finally:
            if progress is not None:
                with suppress(OSError, RuntimeError):  # the scheduler is gone
                    self.client.unsubscribe_topic(topic)

    def _scattered(self, argument: Any, address: str) -> Any:
        """An argument in the memory of a worker, as a future."""
        self._check([address])
        try:
            return self.client.scatter([argument], workers=[address], hash=False)[0]
        except (OSError, RuntimeError, KeyError) as error:  # a closed connection; a worker that was just removed
            raise LostWorker(address) from error

    def _watch(
        self, futures: list[Any], addresses: list[str], reports: "queue.SimpleQueue[Any]", progress: Progress | None
    ) -> None:
        """Wait until all tasks are done; raise `LostWorker` if one of the workers is gone."""
        wake = threading.Event()
        for future in futures:
            future.add_done_callback(lambda _: wake.set())
        while not all(future.status == "finished" for future in futures):
            quiet = not wake.wait(LOOK)
            wake.clear()
            while progress is not None and not reports.empty():
                progress(*reports.get())
            for future in futures:
                error = future.exception() if future.status == "error" else None
                if future.status in ("lost", "cancelled") or isinstance(error, Stopped):
                    raise LostWorker("a worker")
                if error is not None:
                    raise error
            if quiet:
                self._check(addresses)
        while progress is not None and not reports.empty():
            progress(*reports.get())

    def _check(self, addresses: list[str]) -> None:
        gone = set(addresses) - set(self._from_scheduler(self.client.nthreads))
        if gone:
            raise LostWorker(", ".join(sorted(gone)))

    def _gathered(self, futures: list[Any], addresses: list[str]) -> list[Any]:
        """The results; a worker may be lost before it has handed over its own."""
        box: list[Any] = []
        done = threading.Event()

        def gather() -> None:
            try:
                box.append(self.client.gather(futures))
            except Exception as error:
                box.append(error)
            done.set()

        threading.Thread(target=gather, daemon=True).start()
        while not done.wait(LOOK):
            self._check(addresses)
        (found,) = box
        if isinstance(found, Exception):
            self._check(addresses)
            raise found
        return found


@dataclass(frozen=True)
class _Placed:
    """Which worker holds which rows of a matrix."""

    key: str  # name of the matrix on the workers
    addresses: list[str]  # addresses of the workers, in the order of their rows
    bounds: list[int]  # worker r holds the rows bounds[r] to bounds[r + 1] - 1
    sees_folder: bool  # whether all workers read their rows from the folder of the graph
    single: bool  # whether weights are rounded to float32


def restarting(work: Callable[[], Result]) -> Result:
    """Do some work on a cluster, and start it again if workers are lost."""
    for attempt in range(ATTEMPTS):
        try:
            return work()
        except LostWorker as lost:
            if attempt == ATTEMPTS - 1:
                raise ClusterError(f"workers were lost again and again ({lost}); look into their logs") from None
    raise AssertionError


def part_of(whole: Question, first: int, last: int) -> Question:
    """The part of a question about the nodes in a range."""
    begin, end = np.searchsorted(whole.boundary, [first, last]).tolist()
    request = whole.request
    source, start = request.source, request.start
    if source is not None:
        inside = (source.nodes >= first) & (source.nodes < last)
        source = Source(source.nodes[inside] - first, source.inflow[inside])
    own = None if start is None else start[first:last]
    request = replace(request, values=request.values[begin:end], source=source, start=own)
    return replace(whole, boundary=whole.boundary[begin:end] - first, request=request)


def cut_rows(csr: Csr, first: int, last: int) -> Csr:
    """Some rows of a matrix."""
    begin, end = int(csr.indptr[first]), int(csr.indptr[last])
    weights = None if csr.weights is None else csr.weights[begin:end]
    return Csr(csr.indptr[first : last + 1] - begin, csr.indices[begin:end], weights)
