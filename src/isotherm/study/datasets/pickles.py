"""Pickles, read as data: nothing that they name is imported, and only functions defined here are called.

A pickle is a program that can call any function. The pickles of datasets need only a few: those that rebuild a NumPy
array or an empty mapping. Each of these has a stand-in here that records its arguments; everything else is refused.
"""

import io
import pickle
import pickletools
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

PUT = {"PUT", "BINPUT", "LONG_BINPUT"}
GET = {"GET", "BINGET", "LONG_BINGET"}
TUPLE = {"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
DEEPEST = 50  # tuples inside each other; Python takes the hash of one by recursion, and does not check the stack


class UnsafePickleError(ValueError):
    """A pickle names something that no dataset needs, and is not read."""


# All stand-ins are classes with a __setstate__. So a pickle that tries to set the state of the class itself, not of an
# instance, fails in the call, and cannot change anything beyond this pickle.


class _Type:
    """Stands for ``numpy.dtype``: its letter and its byte order."""

    def __init__(self, letter: str, *_: object) -> None:
        self.text = letter

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order = state[1]
        self.text = order + self.text if order in ("<", ">") else self.text


class _Array:
    """Stands for ``numpy.ndarray`` until all of the pickle is read."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def rebuilt(self, seen: "_Seen") -> NDArray[Any]:
        _, shape, kind, fortran, body = self.state
        dtype = np.dtype(kind.text)
        if dtype.hasobject:
            flat = np.array([_plain(item, seen) for item in body], dtype=object)
        elif dtype.kind in "biufSU":
            flat = np.frombuffer(body.encode("latin1") if isinstance(body, str) else body, dtype)
        else:
            raise ValueError(f"arrays of {dtype} are not read")
        return flat.reshape(shape, order="F" if fortran else "C")


class _Record(dict[Any, Any]):
    """Stands for any mapping, such as ``collections.defaultdict``."""

    def __init__(self, *_: object) -> None:
        super().__init__()

    def __setstate__(self, state: object) -> None:
        """Attributes of a mapping are not needed."""


class _FromBuffer(_Array):
    """Stands for the function that makes an array of bytes."""

    def __init__(self, body: bytes, kind: _Type, shape: tuple[int, ...], order: str = "C") -> None:
        super().__init__()
        self.state = (1, shape, kind, order == "F", bytes(body))


class _Encoded(bytes):
    """Stands for ``_codecs.encode``, which old pickles write bytes with."""

    def __new__(cls, text: str, *_: object) -> "_Encoded":
        return super().__new__(cls, text.encode("latin1"))

    def __setstate__(self, state: object) -> None:
        raise ValueError("bytes have no state")


KNOWN: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): _Encoded,
    ("collections", "defaultdict"): _Record,
    ("numpy", "dtype"): _Type,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _FromBuffer,
    ("numpy._core.numeric", "_frombuffer"): _FromBuffer,
    ("sknetwork.data.base", "Bunch"): _Record,
    ("sknetwork.data.base", "Dataset"): _Record,
    ("sknetwork.utils", "Bunch"): _Record,
    ("sknetwork.utils.base", "Bunch"): _Record,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")
        self.name = name

    def find_class(self, module: str, name: str) -> Any:
        try:
            return KNOWN[module, name]
        except KeyError:
            raise UnsafePickleError(f"{self.name} is not read: it asks for {module}.{name}") from None

    def persistent_load(self, pid: object) -> NoReturn:
        raise UnsafePickleError(f"{self.name} refers to data outside of it, and is not read")


def _check_depth(data: bytes, name: str) -> None:
    """Refuse a pickle that could take up memory or the stack beyond its size, without making any of its objects."""
    stack: list[int | None] = []  # the depth of a tuple, 0 for anything else, None for a mark
    memo: dict[int, int | None] = {}
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in PUT or opcode.name == "MEMOIZE":
            place = len(memo) if opcode.name == "MEMOIZE" else int(argument or 0)
            if place > len(data):  # such a memo would take gigabytes
                raise UnsafePickleError(f"{name} numbers its parts beyond its size, and is not read")
            memo[place] = stack[-1]
        elif opcode.name in GET:
            stack.append(memo[int(argument or 0)])
        elif opcode.name == "DUP":
            stack.append(stack[-1])
        else:
            depth = _take(opcode, stack)
            if opcode.name in TUPLE and depth >= DEEPEST:
                raise UnsafePickleError(f"{name} has more than {DEEPEST} tuples inside each other, and is not read")
            left = [None if kind is pickletools.markobject else 0 for kind in opcode.stack_after]
            stack += [depth + 1] if opcode.name in TUPLE else left


def _take(opcode: pickletools.OpcodeInfo, stack: list[int | None]) -> int:
    """Pop the operands of an opcode from the stack; returns the depth of the deepest tuple among them."""
    deepest, count = 0, len(opcode.stack_before)
    if pickletools.stackslice in opcode.stack_before or opcode.name == "POP_MARK":
        while (depth := stack.pop()) is not None:
            deepest = max(deepest, depth)
        count = opcode.stack_before.index(pickletools.markobject)
    for _ in range(count):
        deepest = max(deepest, stack.pop() or 0)
    return deepest


def load_pickle(data: bytes, name: str) -> Any:
    """The dict, list, text, number or array in a pickle; `name` stands for it in messages.

    Examples
    --------
    >>> load_pickle(pickle.dumps({"name": "wikivitals"}), "meta.p")
    {'name': 'wikivitals'}
    >>> load_pickle(pickle.dumps(print), "meta.p")
    Traceback (most recent call last):
    isotherm.study.datasets.pickles.UnsafePickleError: meta.p is not read: it asks for builtins.print
    """
    try:
        _check_depth(data, name)
        return _plain(_Unpickler(data, name).load(), {})
    except UnsafePickleError:
        raise
    except Exception as error:  # a malformed pickle can raise anything
        raise ValueError(f"{name} is damaged: {error}") from None


_Seen: TypeAlias = dict[int, Any]  # results by the id of the object; the pickle keeps all objects alive
_CYCLE = object()


def _plain(value: Any, seen: _Seen) -> Any:
    """The value with all stand-ins replaced; each object is replaced only once."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if id(value) not in seen:
        seen[id(value)] = _CYCLE
        seen[id(value)] = _replaced(value, seen)
    if seen[id(value)] is _CYCLE:
        raise ValueError("it contains itself")
    return seen[id(value)]


def _replaced(value: Any, seen: _Seen) -> Any:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, _Array):
        return value.rebuilt(seen)
    if isinstance(value, dict):
        return {_plain(key, seen): _plain(item, seen) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(item, seen) for item in value)
    raise UnsafePickleError(f"a {type(value).__name__} is not data")
