"""Edge lists of networkx: lines such as ``a b {'weight': 5.0}``, read as ``a b 5.0``."""

import re
from collections.abc import Iterator

from isotherm.io.tables.rows.blocks import LONGEST

__all__ = ["has_attributes", "weights_only"]

ATTRIBUTES = re.compile(rb"(?m)(?<=[ \t,;|])\{([^{}\n]*)\}[ \t]*(?=\r?$)")
WEIGHT = re.compile(rb"""["']weight["']: (?:np\.\w+\()?([^\s,}()]+)""")
COMMENT = re.compile(rb"[#%]|\s*$")


def has_attributes(start: bytes) -> bool:
    r"""Whether the first line that is no comment ends with the attributes of an edge.

    >>> has_attributes(b"# made today\na b {}\n"), has_attributes(b"a b 5\n")
    (True, False)
    """
    line = next((line for line in start.split(b"\n") if not COMMENT.match(line)), b"")
    return len(line.split(b"{")[0].replace(b",", b" ").split()) == 2 and ATTRIBUTES.search(line) is not None


def weights_only(pieces: Iterator[bytes]) -> Iterator[bytes]:
    r"""The text with the weight of each edge in place of its attributes; 1 where there is none, as in networkx.

    >>> b"".join(weights_only(iter([b"a b {'weight': 5.0, 'since': 1999}\nb", b" c {}\n"])))
    b'a b 5.0\nb c 1\n'
    """
    rest = b""
    for piece in pieces:
        lines, mark, rest = (rest + piece).rpartition(b"\n")
        yield ATTRIBUTES.sub(_weight, lines + mark)
        if len(rest) > LONGEST:  # which `blocks` will refuse
            yield rest
            rest = b""
    yield ATTRIBUTES.sub(_weight, rest)


def _weight(attributes: re.Match[bytes]) -> bytes:
    found = WEIGHT.search(attributes[1])
    return found[1] if found else b"1"
