"""Cuts text into fields, and numbers hashed node ids by first appearance: the reference kernels for reading files.

A key is two 64-bit hashes of an id, called word and check. Known keys are in an open-addressing hash table.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Ints, Mask

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]  # numbers of nodes, groups or classes

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: consecutive integers land far apart
LOW, HIGH = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFF00000000)
SEEDS = (0x1505, 0x7063)
STEP = 1 << 14  # rows per step; ids that are new in one step are known in the next


def count_breaks(text: bytes) -> int:
    """The number of line breaks."""
    return text.count(b"\n")


def split_rows(text: bytes, delimiter: str, width: int, places: list[int]) -> list[Any]:
    """The columns at some places, ascending, of delimited text without quotes, for `polars.Series` to read.

    All lines end in a line break, perhaps after a carriage return. Nothing if a line does not have so many fields as
    ``width`` says, or a field is empty. Bytes are not checked to be UTF-8.
    """
    lines = (line.removesuffix(b"\r").split(delimiter.encode()) for line in text.split(b"\n")[:-1])
    rows = [fields for fields in lines if len(fields) == width and all(fields)]
    return [[fields[place] for fields in rows] for place in places] if len(rows) == text.count(b"\n") else []


def text_keys(texts: Any, words: Words, checks: Words) -> None:
    """Fill in two hashes of each text of a Polars Series without nulls; each backend has its own hash functions."""
    words[:], checks[:] = (texts.hash(seed).to_numpy() for seed in SEEDS)


def number(
    table: Words,
    size: int,
    source: Words,
    source_checks: Words,
    target: Words,
    target_checks: Words,
    source_codes: Codes,
    target_codes: Codes,
) -> Ints:
    """Number pairs of keys by first appearance, the source before the target; fills in the codes.

    Returns where each new key first appears: ``2 * row`` for a source, ``2 * row + 1`` for a target. An entry of the
    table is the word of a key, and a tag: the upper half of the check and, in the lower half, the position plus one. A
    free entry is zero. Each key is in the first slot that was free from its home slot on. New keys are entered.
    """
    words, checks = np.stack([source, target], axis=1).ravel(), np.stack([source_checks, target_checks], axis=1).ravel()
    codes = np.empty(len(words), dtype=np.int32)
    first: list[Ints] = []
    for start in range(0, len(words), 2 * STEP):
        part = slice(start, start + 2 * STEP)
        codes[part], lost = _find(table, words[part], checks[part] & HIGH)
        if len(lost):
            lost += start
            codes[lost], new = _enter(table, size, words[lost], checks[lost] & HIGH)
            first.append(lost[new])
            size += len(first[-1])
    source_codes[:], target_codes[:] = codes[::2], codes[1::2]
    return np.concatenate([np.empty(0, dtype=np.int64), *first])


def rehash(old: Words, new: Words) -> None:
    """Copy the entries of one table into a larger, empty one."""
    entries = old[old[:, 1] != 0]
    slots = _home(new, entries[:, 0])
    while len(entries):
        free = new[slots, 1] == 0
        new[slots[free]] = entries[free]
        off = (new[slots] != entries).any(axis=1)
        entries, slots = entries[off], _next(new, slots[off])


def _find(table: Words, words: Words, checks: Words) -> tuple[Codes, Ints]:
    """The positions of known keys, and the indices of the unknown ones."""
    codes = np.empty(len(words), dtype=np.int32)
    lost = []
    away, slots = np.arange(len(words)), _home(table, words)
    while len(away):
        entries = table.take(slots, axis=0)
        tags = entries[:, 1]
        here = (entries[:, 0] == words) & (tags & HIGH == checks) & (tags != 0)
        codes[away] = (tags & LOW).astype(np.int32) - np.int32(1)
        lost.append(away[tags == 0])
        on = ~here & (tags != 0)  # the slot holds another key
        away, slots, words, checks = away[on], _next(table, slots[on]), words[on], checks[on]
    return codes, np.sort(np.concatenate([np.empty(0, dtype=np.int64), *lost]))


def _enter(table: Words, size: int, words: Words, checks: Words) -> tuple[Codes, Mask]:
    """Enter keys that are not in the table; return their positions, and whether each is the first of its equals."""
    places = np.arange(len(words))
    entries = np.stack([words, checks | (places + 1).view(np.uint64)], axis=1)
    owners, homes = np.empty_like(places), np.empty_like(places)
    left, slots = places, _home(table, words)
    while len(left):
        free = table[slots, 1] == 0
        table[slots[free][::-1]] = entries[left[free]][::-1]  # the last write wins, so the first key owns the slot
        held = table.take(slots, axis=0)
        same = (held[:, 0] == words[left]) & (held[:, 1] & HIGH == checks[left])
        owners[left[same]] = (held[same, 1] & LOW).view(np.int64) - 1
        homes[left[same]] = slots[same]
        left, slots = left[~same], _next(table, slots[~same])
    new = owners == places
    positions = np.cumsum(new, dtype=np.int32) + np.int32(size - 1)
    table[homes[new], 1] = checks[new] | (positions[new] + 1).astype(np.uint64)
    return positions[owners], new


def _home(table: Words, words: Words) -> Ints:
    bits = len(table).bit_length() - 1
    return ((words * SPREAD) >> np.uint64(64 - bits)).view(np.int64)


def _next(table: Words, slots: Ints) -> Ints:
    return (slots + 1) & (len(table) - 1)
