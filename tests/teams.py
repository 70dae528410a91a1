"""Teams of threads: the part of the cluster engine that needs no cluster."""

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from isotherm.engines.mailbox import Mailbox, Team
from isotherm.engines.part import PartCG, balanced_bounds, open_rows, part_system
from isotherm.engines.session import cut_rows, part_of
from isotherm.engines.worker import Question
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr


class ThreadMailbox(Mailbox):
    """Delivers to other threads."""

    def __init__(self, mailboxes: "dict[str, ThreadMailbox]", name: str) -> None:
        super().__init__(SimpleNamespace(handlers={}))
        self.mailboxes = mailboxes
        mailboxes[name] = self

    def send(self, address: str, session: str, sender: int, number: int, content: Any) -> None:
        self.mailboxes[address].deliver(session, sender, number, content)


def run_together(size: int, task: Callable[[Team], Any]) -> list[Any]:
    """Run a task in each of some threads, and give what they return."""
    names = [str(rank) for rank in range(size)]
    mailboxes: dict[str, ThreadMailbox] = {}
    for name in names:
        ThreadMailbox(mailboxes, name)
    found: list[Any] = [None] * size

    def run(rank: int) -> None:
        try:
            found[rank] = task(Team(mailboxes[names[rank]], "test", names, rank))
        except Exception as error:
            found[rank] = error
            for mailbox in mailboxes.values():
                mailbox.end("test")

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in found:
        if isinstance(error, Exception):
            raise error
    return found


def solve_together(csr: Csr, question: Question, size: int, **how: Any) -> tuple[Solution, Any]:
    """Solve a question with a team: the solution of the whole, and the measurements of the first member."""
    bounds = balanced_bounds(csr.indptr, size)

    def task(team: Team) -> Any:
        first, last = bounds[team.rank : team.rank + 2]
        rows = open_rows(lambda: cut_rows(csr, first, last), bounds, team)
        part = part_of(question, first, last)
        system, values = part_system(rows, part.boundary, part.request.values, team)
        solver = PartCG(system, 1, values.shape[1], **how)
        found = solver.solve(replace(part.request, values=values))
        return found, team.sent

    found = run_together(size, task)
    return found[0][0], np.concatenate([part.temperatures for part, _ in found])
