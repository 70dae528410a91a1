"""SNAP's files of communities: each line has the nodes of one."""

from typing import Any

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.io.errors import shorten
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.io.tables.rows.blocks import blocks

__all__ = ["read_communities"]

MEMBER = 200  # bytes of a member in memory


def read_communities(file: Input, *, several: bool) -> dict[Any, Any]:
    """The number of the line that each node is on, from 1, as text; with ``several`` the set of them."""
    found: dict[str, set[str]] = {}
    budget, members, number = Budget(file.name), 0, 0
    for block in blocks(file.name, file.text(), 1, None):
        for line in block.text.decode(errors="replace").split("\n"):
            nodes = line.split()
            if not nodes or line.startswith("#"):
                continue
            number, members = number + 1, members + len(nodes)
            budget.check_bytes(MEMBER * members, "the communities")
            for node in nodes:
                found.setdefault(node, set()).add(str(number))
    if not found:
        raise FileError(f"{file.name} has no seeds: there are no rows; fill some in")
    if several:
        return found
    for node, numbers in found.items():
        if len(numbers) > 1:
            message = "{path}: the node {node} is in several communities; read them with {several}"
            raise FileError(message, path=file.name, node=shorten(node), several=Option("several", True))
    return {node: next(iter(numbers)) for node, numbers in found.items()}
