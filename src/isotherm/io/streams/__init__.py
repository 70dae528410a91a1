"""Bytes in: files and standard input, plain or compressed, in any encoding.

A path comes in; pieces of bytes or of UTF-8 text go out. Read ``files.py`` first: it has `Input`, which all readers
take. ``compression.py`` decompresses piece by piece, with ``frames.py`` for Zstandard, and ``encoding.py`` turns other
encodings into UTF-8.
"""

from isotherm.io.streams.files import Input, Progress, foreign, opened, peek

__all__ = ["Input", "Progress", "foreign", "opened", "peek"]
