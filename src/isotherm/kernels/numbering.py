"""Keys to positions in plain NumPy: the part of the reference kernels that readers of files use."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["number", "rehash", "text_keys"]

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.int64]

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: consecutive integers land far apart
LOW, HIGH = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFF00000000)
SEEDS = (0x1505, 0x7063)
STEP = 1 << 14  # rows at once: ids that are new in one step are known in the next


def text_keys(texts: Any, words: Words, checks: Words) -> None:
    """Two hashes of each text in a Series of Polars, without nulls; which ones is up to each kernel."""
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
) -> Places:
    """Number pairs of keys by first appearance, the source before the target.

    Parameters
    ----------
    table
        (slots, 2): the keys that are known, each in the first free slot from its home on: the word, and in one more
        the upper half of the check and the position plus one; zeros elsewhere. New keys are entered.
    size
        How many are known; new ones have the positions that follow.
    source, source_checks, target, target_checks
        The keys.
    source_codes, target_codes
        To be filled with their positions.

    Returns
    -------
    array
        Where new keys are first seen: row times two, plus one for a target.
    """
    words, checks = np.stack([source, target], axis=1).ravel(), np.stack([source_checks, target_checks], axis=1).ravel()
    codes = np.empty(len(words), dtype=np.int32)
    first: list[Places] = []
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
    """Enter the keys of one table into another that is empty."""
    entries = old[old[:, 1] != 0]
    slots = _home(new, entries[:, 0])
    while len(entries):
        free = new[slots, 1] == 0
        new[slots[free]] = entries[free]
        off = (new[slots] != entries).any(axis=1)
        entries, slots = entries[off], _next(new, slots[off])


def _find(table: Words, words: Words, checks: Words) -> tuple[Codes, Places]:
    """The positions of keys, and where the keys are that have none."""
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


def _enter(table: Words, size: int, words: Words, checks: Words) -> tuple[Codes, NDArray[np.bool_]]:
    """Enter keys that are not in the table; their positions, and whether a key is here for the first time."""
    places = np.arange(len(words))
    entries = np.stack([words, checks | (places + 1).view(np.uint64)], axis=1)
    owners, homes = np.empty_like(places), np.empty_like(places)
    left, slots = places, _home(table, words)
    while len(left):
        free = table[slots, 1] == 0
        table[slots[free][::-1]] = entries[left[free]][::-1]  # of several writes the last one stays
        held = table.take(slots, axis=0)
        same = (held[:, 0] == words[left]) & (held[:, 1] & HIGH == checks[left])
        owners[left[same]] = (held[same, 1] & LOW).view(np.int64) - 1
        homes[left[same]] = slots[same]
        left, slots = left[~same], _next(table, slots[~same])
    new = owners == places
    positions = np.cumsum(new, dtype=np.int32) + np.int32(size - 1)
    table[homes[new], 1] = checks[new] | (positions[new] + 1).astype(np.uint64)
    return positions[owners], new


def _home(table: Words, words: Words) -> Places:
    bits = len(table).bit_length() - 1
    return ((words * SPREAD) >> np.uint64(64 - bits)).view(np.int64)


def _next(table: Words, slots: Places) -> Places:
    return (slots + 1) & (len(table) - 1)
