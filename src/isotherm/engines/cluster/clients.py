"""The cluster to use: the one that the caller is connected to, one at an address, or processes on this machine."""

import atexit
import os
import warnings
from typing import Any

from isotherm.engines.cluster.session import ClusterError, Session

__all__ = ["LocalClusterWarning", "connect", "current_session", "disconnect"]

_opened: list[Any] = []  # clients, each before its cluster
_sessions: dict[str, Session] = {}  # by the id of the client


class LocalClusterWarning(UserWarning):
    """No cluster was given, so one was started on this machine."""


def current_session() -> Session:
    """The session of the client that is connected; without one, a cluster is started on this machine."""
    distributed = _distributed()
    try:
        client = distributed.default_client()
    except ValueError:
        client = None
    if client is None or client.status != "running":
        client, told = connect()
        warnings.warn(told, LocalClusterWarning, stacklevel=5)
    if client.id not in _sessions:
        _sessions.clear()
        _sessions[client.id] = Session(client)
    return _sessions[client.id]


def connect(address: str | None = None) -> tuple[Any, str]:
    """Connect to the scheduler at an address, or start a cluster of processes; gives the client, and what was done."""
    distributed = _distributed()
    if address is not None:
        try:
            client = distributed.Client(address, timeout="10s")
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ClusterError(f"there is no Dask scheduler at {address} ({reason}); check the address") from None
        _opened.append(client)
        return client, f"connected to the Dask cluster at {address}"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = max(2, min(cores, 8))
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=max(1, cores // workers), processes=True, dashboard_address=":0"
    )
    client = distributed.Client(cluster)
    _opened.extend([client, cluster])
    return client, f"started a Dask cluster of {workers} processes on this machine, for want of another"


@atexit.register
def disconnect() -> None:
    """Close the connections that were opened here, and the cluster that was started."""
    while _opened:
        _opened.pop(0).close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "the engine dask needs distributed: pip install 'isotherm[dask]'", name="distributed"
        ) from None
    return distributed
