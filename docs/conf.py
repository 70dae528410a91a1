"""The documentation site: ``make docs`` builds it into build/docs, with warnings as errors."""

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import isotherm
from isotherm.cli import commands, main

if TYPE_CHECKING:  # so that a test can read this file without Sphinx
    from sphinx.application import Sphinx

project = "Isotherm"
author = "The Isotherm developers"
project_copyright = "the Isotherm developers"
version = release = isotherm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["reproduction/runs"]
html_theme = "furo"
html_title = "Isotherm"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3  # so that a link such as commands/index.md#exit-status works here and on a code host

autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
autodoc_member_order = "bysource"
napoleon_google_docstring = False


def help_of_commands(app: "Sphinx", page: str, source: list[str]) -> None:
    """Append to its page what each command prints with --help-all."""
    if page == "reference/commands":
        source[0] += "".join(f"\n## isotherm {name}\n\n```text\n{help_of(name)}```\n" for name in command_names())


def command_names() -> list[str]:
    """In alphabetical order."""
    return sorted(file.stem for file in Path(commands.__file__).parent.rglob("[a-z]*.py"))


def help_of(name: str) -> str:
    """Such as that of classify."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([name, "--help-all"])
    return printed.getvalue()


def setup(app: "Sphinx") -> None:
    """Called by Sphinx."""
    app.connect("source-read", help_of_commands)
