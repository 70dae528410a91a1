"""Text in other encodings to UTF-8."""

import codecs
from collections.abc import Iterator

from isotherm.errors import Option
from isotherm.files import FileError

__all__ = ["in_utf8"]


def in_utf8(name: str, pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    r"""The same text in UTF-8.

    >>> b"".join(in_utf8("names.csv", iter([b"caf\xe9"]), "cp1252"))
    b'caf\xc3\xa9'
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        message = "{encoding} is not known: give one such as utf-8, cp1252, latin-1 or utf-16"
        raise FileError(message, encoding=Option("encoding", encoding)) from None
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        message = "{path} is not written in {given}: {reason}; give another {encoding}"
        facts = {"given": encoding, "reason": str(error).split(": ")[-1], "encoding": Option("encoding")}
        raise FileError(message, path=name, **facts) from None
