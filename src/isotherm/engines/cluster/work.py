"""What a worker does: open its rows, solve its part together with the others, hand over temperatures."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.engines.cluster.checkpoints import Piece, Vault, serve_checkpoints
from isotherm.engines.cluster.part import PartCG, Resumed, part_system
from isotherm.engines.cluster.post import Sent, Stopped, Team, post_of
from isotherm.engines.cluster.rows import RowBlock, Rows, open_rows
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution, Source

__all__ = [
    "Errand",
    "Found",
    "Keep",
    "Member",
    "Opening",
    "Part",
    "Question",
    "drop",
    "drop_part",
    "inspect",
    "open_part",
    "run_errand",
    "solve_part",
]

EVERY = 5  # iterations between checkpoints,
LEAST_OFTEN = 20  # or up to this many, if copies go to another machine
COPIES = 0.15  # of the bytes of the halo, that copies may take


class Member(NamedTuple):
    """The place of a worker in a session: its name, the addresses of all, the rank, and the rows of all."""

    session: str
    addresses: list[str]
    rank: int
    bounds: list[int]
    key: str  # of the matrix


@dataclass(frozen=True)
class Question:
    """What a worker solves.

    Attributes
    ----------
    boundary, values : ndarrays of shape (s,) and (s, k)
        Own nodes with a given temperature, counted from the first own node, and these temperatures.
    options : SolveOptions
        Without ``progress``.
    closed : bool
        As for `isotherm.equilibrium.solvers.base.Solver`.
    source : Source, optional
        Heat that enters at own nodes.
    start : ndarray of shape (own, k), optional
        Temperatures to start from.
    job, attempt : str, int
        Name of the job, for checkpoints and progress, and how often it was begun.
    pieces : tuple of Piece
        The checkpoint to go on from.
    keep : Keep, optional
        Where to keep the temperatures, in place of handing them over.
    """

    boundary: Ints
    values: Doubles
    options: SolveOptions
    closed: bool = False
    source: Source | None = None
    start: Floats | None = None
    job: str = ""
    attempt: int = 0
    pieces: tuple[Piece, ...] = ()
    keep: "Keep | None" = None


class Keep(NamedTuple):
    """That temperatures stay with the workers.

    Attributes
    ----------
    name
        The name under which they are kept.
    columns
        The columns that are solved for, out of all.
    total
        Number of all columns.
    follows
        A column that follows from the others, which sum to one with it.
    """

    name: str
    columns: list[int]
    total: int
    follows: int | None = None


@dataclass(eq=False)
class Part:
    """Temperatures that a worker keeps, with what it knows about their nodes.

    Attributes
    ----------
    rows : RowBlock
        The rows of the matrix.
    boundary : ndarray of shape (b,)
        Held nodes, own ones and those of the halo, in the numbering of the worker.
    values : ndarray of shape (b, K)
        Their temperatures.
    temperatures : ndarray of shape (own, K)
        Those of own nodes, NaN where unreached.
    """

    rows: RowBlock
    boundary: Ints
    values: Doubles
    temperatures: Floats

    def put(self, keep: Keep, values: Doubles, temperatures: Floats) -> None:
        """Take over some columns, and the one that follows from them."""
        for whole, some in ((self.values, values), (self.temperatures, temperatures)):
            whole[:, keep.columns] = some
            if keep.follows is not None:
                whole[:, keep.follows] = 1 - some.sum(axis=1)


class Found(NamedTuple):
    """What a worker found: its own rows as a solution, what it sent, and the first iteration of this attempt."""

    solution: Solution
    sent: Sent
    iterations: int  # of this attempt


class Inspection(NamedTuple):
    """What the client wants to know about a worker."""

    threads: int
    sees: bool  # the folder of the graph


def inspect(folder: str | None, token: str, dask_worker: Any = None) -> Inspection:
    """Prepare a worker for messages, and find out what it sees; for `distributed.Client.run`."""
    post_of(dask_worker)
    serve_checkpoints(dask_worker)
    return Inspection(dask_worker.state.nthreads, folder is not None and _has(folder, token))


def _has(folder: str, token: str) -> bool:
    """Whether this is the folder that the client means: its manifest, which has checksums, must be the same."""
    from pathlib import Path

    from isotherm.graphs.packed import MANIFEST

    try:
        return (Path(folder) / MANIFEST).read_text(encoding="utf-8") == token
    except (OSError, ValueError):
        return False


def _worker() -> Any:
    """The worker that runs this task; other tasks may run beside it, since tasks of a team wait for each other."""
    from distributed import get_worker, secede

    secede()
    return get_worker()


def _blocks(worker: Any) -> dict[str, RowBlock]:
    found: dict[str, RowBlock] | None = getattr(worker, "isotherm_blocks", None)
    if found is None:
        worker.isotherm_blocks = found = {}
    return found


class Opening(NamedTuple):
    """Rows to open, and whether all solves on them may be in single precision."""

    rows: Rows
    single: bool


def open_part(member: Member, opening: Opening) -> int:
    """Open the rows of a worker, and keep them; gives the number of nodes in the halo."""
    worker = _worker()
    team = Team(post_of(worker), member.session, member.addresses, member.rank)
    block = open_rows(opening.rows, member.bounds, team, single=opening.single)
    _blocks(worker)[member.key] = block
    return len(block.halo)


def drop(key: str, dask_worker: Any = None) -> None:
    """Forget rows; for `distributed.Client.run`."""
    _blocks(dask_worker).pop(key, None)


def solve_part(member: Member, question: Question) -> Found:
    """Solve a part of a problem together with the other workers; gives the temperatures of own rows."""
    worker = _worker()
    block = _blocks(worker).get(member.key)
    if block is None:
        raise Stopped(member.session)
    team = Team(post_of(worker), member.session, member.addresses, member.rank)
    system, values = part_system(block, question.boundary, question.values, team)
    team.sent = Sent()
    vault = Vault(worker, question.job, question.attempt)
    other = _elsewhere(member)
    solver = PartCG(
        system,
        question.options.threads or worker.state.nthreads,
        values.shape[1],
        save=lambda state: _save(team, vault, state, block.first, other),
        every=_interval(team, block, other),
        resumed=vault.load(list(question.pieces), block.first, block.first + block.own) if question.pieces else None,
    )
    options = replace(question.options, progress=_reporter(worker, question.job) if member.rank == 0 else None)
    solution = solver.solve(values, options, source=question.source, start=question.start, closed=question.closed)
    begun = question.pieces[0].iteration if question.pieces else 0
    if question.keep is not None:
        part = _kept(worker, question.keep, block, system.boundary)
        part.put(question.keep, values, solution.temperatures)
        solution = replace(solution, temperatures=solution.temperatures[:0])
    return Found(solution, team.sent, solution.iterations - begun)


def _parts(worker: Any) -> dict[str, Part]:
    found: dict[str, Part] | None = getattr(worker, "isotherm_parts", None)
    if found is None:
        worker.isotherm_parts = found = {}
    return found


def _kept(worker: Any, keep: Keep, rows: RowBlock, boundary: Ints) -> Part:
    """The part of this name, begun anew if it is of other rows."""
    part = _parts(worker).get(keep.name)
    if part is None or part.rows is not rows:
        values, temperatures = np.zeros((len(boundary), keep.total)), np.zeros((rows.own, keep.total), np.float32)
        part = _parts(worker)[keep.name] = Part(rows, boundary, values, temperatures)
    return part


class Errand(NamedTuple):
    """A function to be called with a kept part and further arguments."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def run_errand(member: Member, errand: Errand) -> Any:
    """Call a function with the part that this worker keeps."""
    part = _parts(_worker()).get(errand.name)
    if part is None:
        raise Stopped(member.session)
    return errand.function(part, *errand.arguments)


def drop_part(name: str, dask_worker: Any = None) -> None:
    """Forget temperatures; for `distributed.Client.run`."""
    _parts(dask_worker).pop(name, None)


def _save(team: Team, vault: Vault, state: Resumed, first: int, other: str | None) -> None:
    team.counted(checkpoints=vault.save(state, first, other))


def _elsewhere(member: Member) -> str | None:
    """The next worker on another machine, if there is one."""
    hosts = [address.rsplit(":", 1)[0] for address in member.addresses]
    size = len(hosts)
    others = ((member.rank + step) % size for step in range(1, size))
    return next((member.addresses[rank] for rank in others if hosts[rank] != hosts[member.rank]), None)


def _interval(team: Team, block: RowBlock, other: str | None) -> int:
    """Iterations between checkpoints: the same on all workers."""
    given = sum(len(rows) for rows in block.given.values())
    sent = 2 * block.own if other is not None else 0
    copied, halo = team.added(np.array([sent, given], float)).tolist()
    return int(min(max(EVERY, copied / max(COPIES * halo, 1)), LEAST_OFTEN))


def _reporter(worker: Any, topic: str) -> Any:
    return lambda iteration, error: worker.log_event(topic, (iteration, float(error)))
