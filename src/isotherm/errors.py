"""Errors and warnings that know which parameter they are about.

A sentence such as "raise max_memory" is for Python; on the command line, the same parameter is ``--max-memory``. So an
error keeps its sentence as a template with facts. Parameters among the facts are `Option` objects, which Python and the
command line spell differently.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A parameter, or a parameter with a value that is advised or rejected.

    >>> f"{Option('max_memory')}, {Option('solver', 'auto')}, {Option('tol', 0.001)}"
    "max_memory, solver='auto', tol=0.001"
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={self.value!r}"

    def __format__(self, _: str) -> str:
        return str(self)


class Worded(Exception):  # noqa: N818 - also a base of warnings
    """A template with a slot in braces for each fact: a number, a text, or an `Option` for a parameter.

    >>> error = Worded("{path} exists already; overwrite it with {force}", path="x.csv", force=Option("force", True))
    >>> str(error)
    'x.csv exists already; overwrite it with force=True'
    >>> worded(error, lambda option: f"--{option.name}")
    'x.csv exists already; overwrite it with --force'
    """

    def __init__(self, template: str, **facts: Any) -> None:
        super().__init__(template.format(**facts) if facts else template)
        self.template, self.facts = template, facts

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.template, self.facts)


def _rebuilt(kind: type[Worded], template: str, facts: dict[str, Any]) -> Worded:
    return kind(template, **facts)


def worded(message: BaseException, spell: Callable[[Option], str]) -> str:
    """The sentence of an error or a warning, and of errors among its facts, with parameters spelled by a function."""
    if not isinstance(message, Worded) or not message.facts:
        return str(message)

    def spelled(fact: Any) -> Any:
        if isinstance(fact, Option):
            return spell(fact)
        return worded(fact, spell) if isinstance(fact, BaseException) else fact

    return message.template.format(**{name: spelled(fact) for name, fact in message.facts.items()})


def first_few(values: Sequence[Any], most: int = 8, *, text: Callable[[Any], str] = repr) -> str:
    """The first values, between commas, for a sentence; dots stand for the others.

    >>> first_few(["ann", "bob", "eve"], 2), first_few([1, 2])
    ("'ann', 'bob', ...", '1, 2')
    """
    return ", ".join(map(text, values[:most])) + ", ..." * (len(values) > most)


class ParameterError(Worded, ValueError):
    """A parameter has a value that is impossible, or that the input does not allow."""


def check_choice(name: str, value: Any, known: Iterable[Any]) -> None:
    """Refuse a value of a parameter that is not among the known ones."""
    choices = list(known)
    if value not in choices:
        given, listed = Option(name, value), ", ".join(map(repr, choices))
        raise ParameterError("{given}, but it must be one of {known}", given=given, known=listed)


MUTED: ContextVar[tuple[type[Warning], ...]] = ContextVar("MUTED", default=())


@contextmanager
def muted(*categories: type[Warning]) -> Iterator[None]:
    """Suppress warnings of these categories in this thread only; `warnings.catch_warnings` affects all threads."""
    before = MUTED.set((*MUTED.get(), *categories))
    try:
        yield
    finally:
        MUTED.reset(before)


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Give a warning that points at the line that called Isotherm, at any depth of calls."""
    if issubclass(category or type(message), MUTED.get()):
        return
    frame: FrameType | None = sys._getframe(1)
    level = outermost = 2
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "isotherm":
            outermost = level
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=outermost + 1)
