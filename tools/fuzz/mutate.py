"""Accidents that happen to bytes and to arrays: changed, cut out, put in or doubled, or the end lost."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["generator", "mutated", "other_array"]

PIECES = [b'"', b",", b"\n", b"\r", b"\0", b"#", b" ", b"\t", b"-", b"9" * 25, b"1e999", b"nan", b"\xff", b"[", b"{"]

EXTREME = [0, 1, -1, 2**31 - 1, -(2**31), 50_000_000, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf, 0.5]
KINDS: list[type] = [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, bool]


def generator(seed: int, *key: int) -> np.random.Generator:
    """The random numbers of one case."""
    return np.random.default_rng([seed, *key])


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The content after one to four accidents."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(0, len(changed) + 1))
        end = min(len(changed), place + int(rng.integers(0, 21)))
        piece = PIECES[rng.integers(len(PIECES))] if rng.random() < 0.5 else rng.bytes(int(rng.integers(1, 9)))
        match int(rng.integers(6)):
            case 0:
                changed[place : place + len(piece)] = piece
            case 1:
                changed[place:place] = piece
            case 2:
                del changed[place:end]
            case 3:
                changed[place:place] = changed[place:end]
            case 4:
                if place < len(changed):
                    changed[place] ^= 1 << int(rng.integers(8))
            case 5:
                del changed[place:]
    return bytes(changed)


def other_array(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """An array with another value, order, length or type."""
    array = array.copy()
    match int(rng.integers(8)):
        case 0 | 1 | 2 if array.size:
            array.flat[rng.integers(array.size)] = _cast(np.asarray(EXTREME[rng.integers(len(EXTREME))]), array.dtype)
        case 3 if array.size > 1:
            one, two = rng.integers(array.size, size=2)
            array.flat[one], array.flat[two] = array.flat[two], array.flat[one]
        case 4:
            return array[: len(array) // 2] if array.ndim else array
        case 5:
            return _cast(array, KINDS[rng.integers(len(KINDS))])
        case 6:
            return np.zeros_like(array)
        case 7:
            return np.concatenate([array, array]) if array.ndim else array
        case _:
            pass
    return array


def _cast(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return array.astype(kind)
