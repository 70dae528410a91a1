"""Accidents that happen to bytes: changed, cut out, put in or doubled, or the end lost."""

import numpy as np

__all__ = ["generator", "mutated"]

PIECES = [b'"', b",", b"\n", b"\r", b"\0", b"#", b" ", b"\t", b"-", b"9" * 25, b"1e999", b"nan", b"\xff", b"[", b"{"]


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
