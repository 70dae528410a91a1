"""Zstandard data cut between blocks, so that no piece expands to more than a few megabytes.

A frame is a header, blocks that expand to at most 128 KB each, and perhaps a checksum; see RFC 8878, section 3. The
decompressor gives out all that a piece expands to, however much that is, and a block of 4 bytes may expand to 128 KB.
"""

from collections.abc import Iterator

__all__ = ["few_blocks"]

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f
MOST_BLOCKS = 32
MOST_BYTES = 1 << 18
REPEATED = 1  # the kind of block that holds one byte, and how often it is repeated


class _Source:
    """Bytes that come in pieces, taken in other pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held, self._place = pieces, b"", 0

    def take(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        while len(self._held) - self._place < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._held, self._place = self._held[self._place :] + piece, 0
        start, self._place = self._place, min(self._place + size, len(self._held))
        return self._held[start : self._place]


def few_blocks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same data, cut so that each piece has few blocks; zeros between frames are left out.

    What is no frame is given out as it is, for the decompressor to refuse.
    """
    source = _Source(pieces)
    while magic := source.take(4):
        if magic == MAGIC:
            yield from _frame(magic, source)
        elif magic[1:] == SKIPPABLE and 0x50 <= magic[0] <= 0x5F:
            size = source.take(4)
            yield magic + size
            yield from _plain(source, int.from_bytes(size, "little"))
        elif magic.strip(b"\0"):
            yield magic
            return


def _frame(magic: bytes, source: _Source) -> Iterator[bytes]:
    descriptor = source.take(1)
    flags = descriptor[0] if descriptor else 0
    single, size_flag = flags >> 5 & 1, flags >> 6
    size = (single, 2, 4, 8)[size_flag]
    held, blocks, last = magic + descriptor + source.take((not single) + (0, 1, 2, 4)[flags & 3] + size), 0, False
    while not last:
        head = source.take(3)
        fields = int.from_bytes(head, "little")
        last, kind, length = len(head) < 3 or bool(fields & 1), fields >> 1 & 3, fields >> 3
        held += head + source.take(1 if kind == REPEATED else length)
        blocks += 1
        if blocks == MOST_BLOCKS or len(held) > MOST_BYTES:
            yield held
            held, blocks = b"", 0
    yield held + source.take(4 * (flags >> 2 & 1))


def _plain(source: _Source, size: int) -> Iterator[bytes]:
    while size and (piece := source.take(min(size, MOST_BYTES))):
        yield piece
        size -= len(piece)
