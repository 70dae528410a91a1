"""The documentation site: ``make docs`` builds it into build/docs, with warnings as errors."""

import isotherm

project = "Isotherm"
author = "The Isotherm developers"
project_copyright = "the Isotherm developers"
version = release = isotherm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["reproduction/report.md", "reproduction/runs"]
html_theme = "furo"
html_title = "Isotherm"
html_extra_path = ["reproduction/report.html"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3  # so that a link such as cli.md#isotherm-classify works here and on a code host

autodoc_typehints = "none"  # docstrings say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
suppress_warnings = ["myst.xref_missing"]
