"""What a worker does: open its rows, solve its part together with the others, and hand over or keep temperatures."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.engines.checkpoints import CheckpointStore, Piece, serve_checkpoints
from isotherm.engines.mailbox import Sent, Stopped, Team, mailbox_of
from isotherm.engines.part import PartCG, Resumed, RowBlock, Rows, open_rows, part_system
from isotherm.equilibrium.solvers import Request, Solution
from isotherm.equilibrium.solvers.system import keep_within
from isotherm.graphs import Csr

EVERY = 5  # iterations between checkpoints,
LEAST_OFTEN = 20  # or up to this many, if copies go to another machine
COPIES = 0.15  # checkpoint traffic, as a fraction of halo traffic


class Member(NamedTuple):
    """The place of a worker in a session: addresses and row bounds of all workers, its rank, the key of the matrix."""

    session: str
    addresses: list[str]
    rank: int
    bounds: list[int]
    key: str


@dataclass(frozen=True)
class Question:
    """What a worker solves."""

    boundary: Ints  # (s,) own nodes with a given temperature, counted from the first own node
    request: Request  # for own nodes, with options without progress
    job: str = ""  # name for checkpoints and progress
    attempt: int = 0  # how often the job was started
    pieces: tuple[Piece, ...] = ()  # the checkpoint to continue from
    keep: "Keep | None" = None  # where to keep the temperatures, instead of handing them over


class Keep(NamedTuple):
    """Asks workers to keep temperatures under a name."""

    name: str
    block: slice  # the columns that are solved, out of all
    total: int  # number of all columns
    follows: int | None  # a column of the block that is not solved for, because all of them sum to one
    low: Doubles  # (k,) range of the boundary temperatures, on all workers, in each column of the block
    high: Doubles


@dataclass(eq=False)
class SolvedPart:
    """The temperatures of some nodes, with their rows of the matrix: all that is needed to label these nodes."""

    conductance: Csr  # rows of own nodes, then empty rows for nodes of the halo; columns are numbered alike
    first: int  # the first own node, in the numbering of the whole graph
    own: int  # number of own nodes
    rank: int
    boundary: Ints  # (b,) held nodes, own ones and nodes of the halo, ascending
    values: Doubles  # (b, K) their temperatures
    temperatures: Floats  # (own, K) NaN where unreached
    results: dict[str, Any] = field(default_factory=dict)  # left by functions for later calls of `RemoteSolution.map`

    def put(self, keep: Keep, values: Doubles, temperatures: Floats) -> None:
        """Take over some columns, and the one that follows from them."""
        columns = np.arange(keep.block.start, keep.block.stop)
        for whole, some in ((self.values, values), (self.temperatures, temperatures)):
            whole[:, columns[columns != keep.follows]] = some
            if keep.follows is not None:
                whole[:, keep.follows] = 1 - some.sum(axis=1)
        keep_within(self.temperatures[:, keep.block], keep.low, keep.high)


class Found(NamedTuple):
    """What a worker found: its own rows as a solution, what it sent, and the iterations of this attempt."""

    solution: Solution
    sent: Sent
    iterations: int


def inspect(folder: str | None, token: str, dask_worker: Any = None) -> bool:
    """Prepare a worker for messages; returns whether it sees the client's folder. For `distributed.Client.run`."""
    from isotherm.graphs.packed import MANIFEST

    mailbox_of(dask_worker)
    serve_checkpoints(dask_worker)
    try:  # the manifest, which has checksums, must be the same
        return folder is not None and (Path(folder) / MANIFEST).read_text(encoding="utf-8") == token
    except (OSError, ValueError):
        return False


def _worker() -> Any:
    """The worker that runs this task; it leaves its thread to others, since tasks of a team wait for each other."""
    from distributed import get_worker, secede

    secede()
    return get_worker()


def _kept(worker: Any, kind: str) -> dict[str, Any]:
    """What a worker keeps between tasks: "blocks" of rows by the key of their matrix, "parts" by name."""
    return vars(worker).setdefault(f"isotherm_{kind}", {})


def open_part(member: Member, opening: tuple[bool, Rows]) -> None:
    """Open the rows of a worker, and keep them; the flag says whether all solves may be in single precision."""
    worker, (single, rows) = _worker(), opening
    team = Team(mailbox_of(worker), member.session, member.addresses, member.rank)
    _kept(worker, "blocks")[member.key] = open_rows(rows, member.bounds, team, single=single)


def solve_part(member: Member, question: Question) -> Found:
    """Solve a part of a problem together with the other workers."""
    worker = _worker()
    block: RowBlock | None = _kept(worker, "blocks").get(member.key)
    if block is None:
        raise Stopped(member.session)
    team = Team(mailbox_of(worker), member.session, member.addresses, member.rank)
    request = question.request
    system, values = part_system(block, question.boundary, request.values, team)
    team.sent = Sent()
    store = CheckpointStore(worker, question.job, question.attempt)
    other = team.elsewhere

    def save(state: Resumed) -> None:
        team.counted(checkpoints=store.save(state, block.first, other))

    def report(iteration: int, error: float) -> None:
        worker.log_event(question.job, (iteration, float(error)))

    resumed = store.load(list(question.pieces), block.first, block.first + block.own) if question.pieces else None
    threads, every = request.options.threads or worker.state.nthreads, _interval(team, block, other)
    solver = PartCG(system, threads, values.shape[1], save=save, every=every, resumed=resumed)
    options = replace(request.options, progress=report if member.rank == 0 else None)
    solution = solver.solve(replace(request, values=values, options=options))
    begun = question.pieces[0].iteration if question.pieces else 0
    if question.keep is not None:
        part = _part(worker, question.keep, block, system.boundary)
        part.put(question.keep, values, solution.temperatures)
        solution = replace(solution, temperatures=solution.temperatures[:0])
    return Found(solution, team.sent, solution.iterations - begun)


def _part(worker: Any, keep: Keep, rows: RowBlock, boundary: Ints) -> SolvedPart:
    """The part of this name; a new one if it has other rows."""
    part: SolvedPart | None = _kept(worker, "parts").get(keep.name)
    if part is None or part.conductance is not rows.csr:
        values, temperatures = np.zeros((len(boundary), keep.total)), np.zeros((rows.own, keep.total), np.float32)
        part = SolvedPart(rows.csr, rows.first, rows.own, rows.rank, boundary, values, temperatures)
        _kept(worker, "parts")[keep.name] = part
    return part


def run_call(member: Member, call: tuple[str, Callable[..., Any], tuple[Any, ...]]) -> Any:
    """Call a function with the part that this worker keeps under a name, and further arguments."""
    name, function, arguments = call
    part = _kept(_worker(), "parts").get(name)
    if part is None:
        raise Stopped(member.session)
    return function(part, *arguments)


def drop(kind: str, name: str, dask_worker: Any = None) -> None:
    """Delete what a worker keeps; for `distributed.Client.run`."""
    _kept(dask_worker, kind).pop(name, None)


def _interval(team: Team, block: RowBlock, other: str | None) -> int:
    """Iterations between checkpoints: the same on all workers."""
    given = sum(len(rows) for rows in block.given.values())
    sent = 2 * block.own if other is not None else 0
    copied, halo = team.added(np.array([sent, given], float)).tolist()
    return int(min(max(EVERY, copied / max(COPIES * halo, 1)), LEAST_OFTEN))
