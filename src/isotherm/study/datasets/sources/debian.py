"""The packages of Debian 12, their dependencies, and the section of the archive that each is in.

From the index of packages of Debian 12 "bookworm": an arc leads from a package to each that it depends on. 63,436
packages, 247,686 arcs, 58 sections.
"""

from importlib.resources import as_file, files

from isotherm.study.datasets.base import Dataset
from isotherm.study.datasets.sources.folder import read_graph_file

__all__ = ["debian_packages"]


def debian_packages() -> Dataset:
    """The packages of Debian 12, labelled by the names of their sections.

    Examples
    --------
    >>> debian = debian_packages()
    >>> debian.graph
    <Graph: 63436 nodes, 247686 edges, directed>
    >>> debian.labels[debian.graph.index(["bash", "0ad"])].tolist()
    ['shells', 'games']
    """
    with as_file(files("isotherm.study.datasets") / "data" / "debian_bookworm.npz") as path:
        read = read_graph_file(path, name="Debian packages")
    assert read.label_names is not None
    sections = read.label_names.astype(object)
    return Dataset(read.name, read.graph, sections[read.labels])
