"""Pickles, read as data: nothing that they name is imported, and nothing is called but what is defined here.

A pickle is a program that can call any function. Those that datasets come in need only a few: the ones that rebuild a
NumPy array or an empty mapping. Each of these has a stand-in here that records its arguments; all else is refused.
"""

import io
import pickle
import pickletools
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["UnsafePickleError", "load_pickle"]

MEMO = {"PUT", "BINPUT", "LONG_BINPUT"}


class UnsafePickleError(ValueError):
    """A pickle names what no dataset needs, and is not read."""


# All stand-ins are classes with a __setstate__: a pickle that tries to give one of them another state, rather than
# one of its instances, fails in the call, and changes nothing that would outlast it.


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
            message = f"{self.name} asks for {module}.{name}: it may run a program, and is not read"
            raise UnsafePickleError(message) from None

    def persistent_load(self, pid: object) -> NoReturn:
        raise UnsafePickleError(f"{self.name} refers to data outside of it, and is not read")


def load_pickle(data: bytes, name: str) -> Any:
    """The dict, list, text, number or array in a pickle; `name` is what to call it in messages.

    Examples
    --------
    >>> load_pickle(pickle.dumps({"name": "wikivitals"}), "meta.p")
    {'name': 'wikivitals'}
    >>> load_pickle(pickle.dumps(print), "meta.p")
    Traceback (most recent call last):
    isotherm.datasets.pickles.UnsafePickleError: meta.p asks for builtins.print: it may run a program, and is not read
    """
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in MEMO and int(argument or 0) > len(data):  # the memo would take gigabytes
                raise UnsafePickleError(f"{name} numbers its parts beyond its size, and is not read")
        return _plain(_Unpickler(data, name).load(), {})
    except UnsafePickleError:
        raise
    except Exception as error:  # a malformed pickle fails in any way
        raise ValueError(f"{name} is damaged: {error}") from None


_Seen: TypeAlias = dict[int, Any]  # what has been made of the object of an id; the pickle keeps all objects alive


def _plain(value: Any, seen: _Seen) -> Any:
    """The value with all stand-ins replaced by what they stand for; each object once, however often it is named."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if id(value) not in seen:
        seen[id(value)] = _CYCLE
        seen[id(value)] = _replaced(value, seen)
    if seen[id(value)] is _CYCLE:
        raise ValueError("it holds itself")
    return seen[id(value)]


_CYCLE = object()


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
