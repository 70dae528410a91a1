"""Messages between workers: rows of temperatures for the halo, and all-reduced sums.

Messages travel on Dask's own connections between workers, so the cluster's TLS and firewall settings apply. All members
of a team make the same sequence of calls, as in MPI. Calls are numbered, and a message is found by its sender and
number.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Doubles
from isotherm.kernels import Report

PATIENCE = 600.0  # seconds to wait for a message; a worker that dies is noticed earlier, by the client
SMALL = 4096  # bytes; smaller arrays travel within the message
SUMMED = np.array([True, False, False, True, True, False])  # the rows of a report; the others are maxima


class Stopped(Exception):  # noqa: N818 - not an error of this worker
    """A member of the team is gone, or the client has ended the session."""


class Mailbox:
    """The mailbox of one worker (a `distributed.Worker`), for all sessions."""

    def __init__(self, worker: Any) -> None:
        self.worker = worker
        self._messages: dict[tuple[str, int, int], Any] = {}
        self._ended: deque[str] = deque(maxlen=1000)
        self._change = threading.Condition()
        self._connections: dict[str, _Connection] = {}
        worker.handlers["isotherm_deliver"] = self.deliver

    def deliver(self, session: str, sender: int, number: int, content: Any) -> None:
        """Called by other workers."""
        with self._change:
            if session not in self._ended:
                self._messages[session, sender, number] = content
                self._change.notify_all()

    def send(self, address: str, session: str, sender: int, number: int, content: Any) -> None:
        """Send a message without waiting for its arrival; if it cannot be delivered, the session ends."""
        message = {"session": session, "sender": sender, "number": number, "content": _packed(content)}
        asyncio.run_coroutine_threadsafe(self._send(address, message), self.worker.loop.asyncio_loop)

    async def _send(self, address: str, message: dict[str, Any]) -> None:
        connection = self._connections.setdefault(address, _Connection())
        try:
            async with connection.lock:
                if connection.comm is None:
                    connection.comm = await self.worker.rpc.connect(address)
                await connection.comm.write({"op": "isotherm_deliver", "reply": False, **message})
        except OSError:  # also what Dask raises for a closed connection
            self._connections.pop(address, None)
            self.end(message["session"])

    def receive(self, session: str, sender: int, number: int) -> Any:
        """Wait for a message."""
        key, limit = (session, sender, number), time.monotonic() + PATIENCE
        with self._change:
            while key not in self._messages:
                if session in self._ended or not self._change.wait(limit - time.monotonic()):
                    raise Stopped(session)
            return _unpacked(self._messages.pop(key))

    def end(self, session: str) -> None:
        """Make all waiting calls of a session fail, and forget its messages."""
        with self._change:
            self._ended.append(session)
            for key in [key for key in self._messages if key[0] == session]:
                del self._messages[key]
            self._change.notify_all()


class _Connection:
    """A connection to another worker, on which messages are not answered."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.comm: Any = None


def _packed(content: Any) -> Any:
    """An array, None or a tuple of these as Dask sends them; small arrays travel within the message."""
    from distributed.protocol import to_serialize

    if content is None:
        return None
    if isinstance(content, tuple):
        return [_packed(each) for each in content]
    if content.nbytes > SMALL:
        return to_serialize(content)
    return {"bytes": content.tobytes(), "dtype": content.dtype.str, "shape": list(content.shape)}


def _unpacked(content: Any) -> Any:
    if isinstance(content, (list, tuple)):
        return tuple(map(_unpacked, content))
    if isinstance(content, dict):
        return np.frombuffer(content["bytes"], content["dtype"]).reshape(content["shape"])
    return content


class Sent(NamedTuple):
    """Bytes that a member has sent."""

    rows: int = 0
    sums: int = 0
    checkpoints: int = 0


class Team:
    """The workers that solve together, as one of them sees them."""

    def __init__(self, mailbox: Mailbox, session: str, addresses: list[str], rank: int) -> None:
        self.mailbox, self.session, self.addresses, self.rank = mailbox, session, addresses, rank
        self.sent = Sent()
        self._number = 0

    @property
    def others(self) -> list[int]:
        """The other ranks, beginning with the next one, so that not all members write to the same one at once."""
        size = len(self.addresses)
        return [(self.rank + step) % size for step in range(1, size)]

    @property
    def elsewhere(self) -> str | None:
        """The address of the next member on another machine, if there is one."""
        hosts = [address.rsplit(":", 1)[0] for address in self.addresses]
        return next((self.addresses[rank] for rank in self.others if hosts[rank] != hosts[self.rank]), None)

    def exchange(self, contents: Mapping[int, Any], senders: Iterable[int]) -> dict[int, Any]:
        """Send contents to some members, and receive one message from each of the senders."""
        self._number += 1
        for rank in self.others:
            if rank in contents:
                self.mailbox.send(self.addresses[rank], self.session, self.rank, self._number, contents[rank])
        return {rank: self.mailbox.receive(self.session, rank, self._number) for rank in senders}

    def gathered(self, values: Doubles) -> list[Doubles]:
        """The values of all members, in the order of their ranks."""
        found = self.exchange(dict.fromkeys(self.others, values), self.others)
        self.counted(sums=values.nbytes * len(found))
        return [values if rank == self.rank else found[rank] for rank in range(len(self.addresses))]

    def added(self, values: Doubles) -> Doubles:
        """The sum over all members; the same bits on each, so that all take the same decisions."""
        return folded(np.add, self.gathered(values))

    def largest(self, values: Doubles) -> Doubles:
        """The maximum over all members."""
        return folded(np.maximum, self.gathered(values))

    def joined(self, report: Report) -> Report:
        """A report on the rows of all members."""
        parts = self.gathered(np.array(report))
        return Report(*np.where(SUMMED[:, None], folded(np.add, parts), folded(np.maximum, parts)))

    def counted(self, **sent: int) -> None:
        """Count bytes that were sent."""
        self.sent = self.sent._replace(**{name: getattr(self.sent, name) + size for name, size in sent.items()})


def folded(operation: Callable[[Doubles, Doubles], Doubles], parts: list[Doubles]) -> Doubles:
    """Fold values in the order of ranks, so that rounding is the same everywhere."""
    found = parts[0]
    for part in parts[1:]:
        found = operation(found, part)
    return found


def mailbox_of(worker: Any) -> Mailbox:
    """The mailbox of a worker, made on first use."""
    found = getattr(worker, "isotherm_mailbox", None)
    if found is None:
        worker.isotherm_mailbox = found = Mailbox(worker)
    return found


def stop(session: str, dask_worker: Any = None) -> None:
    """End a session on a worker; for `distributed.Client.run`, which fills in the worker."""
    mailbox_of(dask_worker).end(session)
