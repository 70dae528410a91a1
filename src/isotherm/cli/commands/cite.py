"""``isotherm cite``: what to cite, in BibTeX."""

EXAMPLES = """Examples:

  isotherm cite
  isotherm cite >> references.bib
"""
PAPER = """@article{delara2020consistent,
  title = {A Consistent Diffusion-Based Algorithm for Semi-Supervised Classification on Graphs},
  author = {de Lara, Nathan and Bonald, Thomas},
  journal = {arXiv preprint arXiv:2008.11944},
  year = {2020}
}"""
SOFTWARE = """@software{{isotherm,
  title = {{Isotherm}},
  author = {{{{The Isotherm developers}}}},
  version = {{{version}}},
  note = {{Python package}}
}}"""


def cite() -> None:
    """Print what to cite, in BibTeX.

    These are the paper that the method comes from, and Isotherm itself.
    """
    from importlib import metadata

    print(PAPER, SOFTWARE.format(version=metadata.version("isotherm")), sep="\n\n")
