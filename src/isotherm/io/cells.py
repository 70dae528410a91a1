"""Single cells in AnnData: the graph of their neighbours, what is known about their types, and their components.

scanpy keeps neighbour graphs in ``obsp``, annotations of cells in ``obs`` and components in ``obsm``; barcodes are the
names of observations. An `AnnData` object and an ``.h5ad`` file have the same parts. Of a file, only these are read,
and not the counts.
"""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option, ParameterError, first_few
from isotherm.files import STANDARD, FileError, writing
from isotherm.graphs import Graph
from isotherm.graphs.nodes import distinct_ids, node_ids
from isotherm.io.columns import label_place
from isotherm.io.errors import blaming, need, shorten
from isotherm.io.file_layout import Layout, Options, Pick
from isotherm.io.matrices import graph_of
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.seeds.encoding import is_none

AUTO = "auto"
PRINCIPAL = "X_pca"
KIND = "an .h5ad file"


def read_h5ad(file: Input, options: Options) -> tuple[Graph, Layout, NDArray[Any] | None]:
    """The neighbour graph of the cells in a file, and the components that it was made of, if there are some."""
    cells = read_cells(file, options.neighbors_key, options.max_memory)
    try:
        graph = graph_of(file.name, connectivities(cells, options.neighbors_key), options, first=0)
        graph = replace(graph, nodes=barcodes(cells))
        return graph, Layout("h5ad"), components(cells, options.neighbors_key)
    except ParameterError as error:
        raise FileError("{path}: {error}", path=file.name, error=error) from None


def h5ad_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The annotation of cells in a file, by barcode, and the name of its column in ``obs``."""
    cells = read_cells(file, None, options.max_memory)
    names = [str(name) for name in cells.obs.columns]
    place = label_place(names, ()) if label is None else names.index(str(label)) if str(label) in names else None
    if place is None:
        shown = first_few(names, text=shorten)
        problem = "none is clearly a label" if label is None else f"none is {shorten(label)}"
        message = "{path}: cells have the annotations {shown}, and {problem}; choose one with {label}"
        raise FileError(message, path=file.name, shown=shown or "nothing", problem=problem, label=Option("label"))
    found = annotation(cells, names[place])
    if not found:
        raise FileError(f"{file.name} has no seeds: no cell has a {shorten(names[place])}; fill some in")
    return found, names[place]


def read_cells(file: Input, neighbors_key: str | None, max_memory: int | None = None) -> Any:
    """An AnnData object with what a file says about cells and their neighbours, without counts and genes."""
    if file.path == STANDARD:
        raise FileError("standard input cannot be an .h5ad file, which is read in parts: give the name of the file")
    h5py = need("h5py", "reading .h5ad files", extra="anndata")
    anndata = need("anndata", "reading .h5ad files", extra="anndata")
    with blaming(file.name, KIND), h5py.File(file.path, "r") as content:
        if "obs" not in content:
            raise FileError(f"{file.name} is not {KIND}: it has no obs; write it with adata.write_h5ad")
        read, records = anndata.io.read_elem, content.get("uns", {})
        key = neighbors_key or "neighbors"
        uns = {key: read(records[key])} if key in records else {}
        name, matrices = connectivities_name(uns, neighbors_key), content.get("obsp", {})
        if name in matrices:
            stored = matrices[name]
            size = stored["data"].size if isinstance(stored, h5py.Group) and "data" in stored else stored.size
            Budget(file.name, max_memory).check(nodes=len(stored), edges=size, weighted=True)
        obsp = {name: read(matrices[name])} if name in matrices else {}
        obsm = {name: read(part) for name, part in content.get("obsm", {}).items() if name == representation(uns, key)}
        return anndata.AnnData(obs=read(content["obs"]), obsm=obsm, obsp=obsp, uns=uns)


def connectivities_name(uns: Mapping[str, Any], neighbors_key: str | None) -> str:
    """The name of the matrix of a neighbour graph in ``obsp``, as scanpy's ``neighbors_key`` chooses it."""
    usual = "connectivities" if neighbors_key is None else f"{neighbors_key}_connectivities"
    return str(uns.get(neighbors_key or "neighbors", {}).get("connectivities_key", usual))


def representation(uns: Mapping[str, Any], record: str) -> str:
    """The name in ``obsm`` of what a neighbour graph was made of."""
    return str(uns.get(record, {}).get("params", {}).get("use_rep", PRINCIPAL))


def connectivities(cells: Any, neighbors_key: str | None) -> Any:
    """The matrix of a neighbour graph."""
    name = connectivities_name(cells.uns, neighbors_key)
    if name not in cells.obsp:
        message = "there is no neighbour graph obsp[{name!r}]: make it with scanpy.pp.neighbors, or choose {key}"
        raise ParameterError(message, name=name, key=Option("neighbors_key"))
    return cells.obsp[name]


def barcodes(cells: Any) -> NDArray[Any]:
    """The names of the cells."""
    try:
        return distinct_ids(node_ids(cells.obs_names.to_numpy(dtype=object), "obs_names"))
    except ValueError as error:
        raise ParameterError("{error}: make them so with obs_names_make_unique", error=error) from None


def components(cells: Any, neighbors_key: str | None, use_rep: str | None = AUTO) -> NDArray[Any] | None:
    """(n, d) a representation of the cells; by default the one that their neighbour graph was made of."""
    record = neighbors_key or "neighbors"
    name = representation(cells.uns, record) if use_rep == AUTO else use_rep
    if name is None or (use_rep == AUTO and name not in cells.obsm):
        return None
    if name not in cells.obsm:
        raise ParameterError("obsm has no {name!r}: choose {rep}", name=name, rep=Option("use_rep"))
    rows = np.asarray(cells.obsm[name])
    most = cells.uns.get(record, {}).get("params", {}).get("n_pcs") if use_rep == AUTO else None
    rows = rows[:, : None if most is None else int(most)]
    if not np.isfinite(rows).all():
        raise ParameterError(f"obsm[{name!r}] holds a value that is missing or infinite: correct it, or remove it")
    return rows


def annotation(cells: Any, column: str) -> dict[Any, Any]:
    """The values of a column of ``obs``, by barcode, without missing ones."""
    values = cells.obs[column].to_numpy(dtype=object)
    return {name: value for name, value in zip(cells.obs_names.tolist(), values, strict=True) if not is_none(value)}


def write_h5ad(source: str, target: str, added: Mapping[str, Mapping[str, Any]], *, force: bool = False) -> None:
    """Write a copy of a file of cells with further entries of ``obs``, ``obsm`` and ``uns``."""
    from anndata.io import read_elem, write_elem

    h5py = need("h5py", "writing .h5ad files", extra="anndata")
    with writing(target, force=force) as copy:
        with open(source, "rb") as original:
            shutil.copyfileobj(original, copy)
        copy.flush()
        with blaming(source, KIND), h5py.File(copy.name, "r+") as content:
            write_elem(content, "obs", read_elem(content["obs"]).assign(**added["obs"]))
            for part in ("obsm", "uns"):
                for name, value in added[part].items():
                    write_elem(content.require_group(part), name, value)
