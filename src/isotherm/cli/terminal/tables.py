"""Tables and bars of text."""

import sys

__all__ = ["aligned", "arrow", "bar", "counted", "plus_minus", "shown"]

BLOCKS = " ▏▎▍▌▋▊▉█"
LONGEST = 40


def aligned(rows: list[list[str]], *, left: tuple[int, ...] = ()) -> str:
    """A table in columns; those in ``left`` are aligned left, the others right.

    >>> print(aligned([["class", "seeds"], ["tea", "2"], ["咖啡", "10"]], left=(0,)))
    class  seeds
    tea        2
    咖啡      10
    """
    from rich.cells import cell_len

    widths = [max(cell_len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            blanks = " " * (widths[place] - cell_len(cell))
            cells.append(cell + blanks if place in left else blanks + cell)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def arrow() -> str:
    """The separator between the nodes of a path."""
    sign = "\N{RIGHTWARDS ARROW}"
    return f" {sign} " if _fits(sign) else " > "


def bar(share: float, width: int = 20) -> str:
    """A bar for a share of 1, with a precision of an eighth of a character if the terminal allows.

    >>> bar(0.25, 10)
    '██▌'
    """
    if not _fits(BLOCKS):
        return "#" * round(share * width)
    whole, eighths = divmod(round(share * width * 8), 8)
    return (BLOCKS[-1] * whole + BLOCKS[eighths]).rstrip()


def counted(number: float, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "seed"), counted(2000, "seed")
    ('1 seed', '2,000 seeds')
    """
    figure = f"{number:,.0f}"
    return f"{figure} {noun}{'' if figure == '1' else 's'}"


def plus_minus(mean: float, deviation: float) -> str:
    """A mean and its standard deviation.

    >>> plus_minus(0.25, 0.0125)
    '0.250 ± 0.013'
    """
    sign = "\N{PLUS-MINUS SIGN}"
    return f"{mean:.3f} {sign if _fits(sign) else '+-'} {deviation:.3f}"


def shown(value: object) -> str:
    r"""A class or a node as a cell of a table: on one line, and not too long.

    >>> shown("tea\nroom")
    'tea\\nroom'
    """
    text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _fits(text: str) -> bool:
    try:
        text.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
