"""Draw paragraphs of the README and the pages, for a reader to judge: python tests/paragraphs.py [SEED] [NUMBER].

Mark each one that has to be read twice. Of 100, at most 5 may be marked. Code, tables, headings and pictures are left
out, and so are the pages for maintainers and the report of the reproduction, which a program writes.
"""

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEAST = 12  # words of a paragraph


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of prose in a page; each point of a list is one."""
    prose = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    for part in re.split(r"\n\s*\n|\n(?=- |\d\. )", prose):
        if len(part.split()) >= LEAST and not re.match(r" {4}|[#|!(]", part):
            yield part.strip()


def main(seed: int = 0, number: int = 100) -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    chosen = [page for page in pages if not {"maintainers", "report.md"} & set(page.parts)]
    found = [(page, text) for page in chosen for text in paragraphs(page.read_text(encoding="utf-8"))]
    for at, (page, text) in enumerate(random.Random(seed).sample(found, number), 1):
        print(f"{at}. {page.relative_to(ROOT)}\n{text}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
