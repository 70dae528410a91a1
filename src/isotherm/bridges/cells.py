"""Single cells: types of cells spread over their neighbour graph, in the manner of scanpy's tools."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from isotherm.errors import Option, ParameterError, first_few
from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import Graph
from isotherm.io.cells import AUTO, annotation, barcodes, components, connectivities
from isotherm.node_classifier import NodeClassifier
from isotherm.probability.evidence import Evidence
from isotherm.seeds.encoding import is_missing_word, normal_label

KEY = "isotherm"


def label_transfer(
    adata: Any,
    labels: str,
    *,
    neighbors_key: str | None = None,
    key_added: str = KEY,
    use_rep: str | None = AUTO,
    unknown: str | tuple[str, ...] = (),
    classifier: NodeClassifier | None = None,
    copy: bool = False,
) -> Any:
    """Label all cells from those that are annotated, by heat along their neighbour graph.

    To annotate a second data set, concatenate both, so that cells of the new one have no label, integrate them, and
    compute their joint neighbours.

    Parameters
    ----------
    adata : AnnData
        Cells with a neighbour graph, as ``scanpy.pp.neighbors`` makes it. Names of cells must be distinct.
    labels : str
        The column of ``adata.obs`` with the known types. Cells to be labelled have NaN there, or "Unknown", "NA" or
        the like.
    neighbors_key : str, optional
        Which neighbour graph, as in scanpy: by default ``obsp["connectivities"]``.
    key_added : str
        Under which name the results are kept.
    use_rep : str or None
        The entry of ``adata.obsm`` with components of the cells, which are evidence beside the graph. By default the
        one that the graph was made of, or "X_pca". None to go by the graph alone.
    unknown : str or tuple of str
        Further values that mean that the type is not known.
    classifier : NodeClassifier, optional
        Which classifier to fit; by default ``NodeClassifier("probable")``. Pass ``NodeClassifier()`` to find more of
        the cells of rare types, at the cost of some others.
    copy : bool
        Whether to return a changed copy instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        With ``copy``, the changed copy. These are added:

        ``obs[key_added]``
            The type of each cell, as categories; NaN where no annotated cell is connected to it and there are no
            components.
        ``obs[key_added + "_confidence"]``
            The probability that the type is right; 1 for annotated cells.
        ``obsm[key_added + "_probabilities"]``
            The probability of each type, in the order of ``uns[key_added]["classes"]``.
        ``uns[key_added]``
            Classes, the weight of each expert, and the rule that decided.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import isotherm as iso
    >>> from isotherm.anndata import label_transfer
    >>> points = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [9, 9]], 100, axis=0)
    >>> known = np.where(np.arange(200) % 4, "Unknown", np.repeat(["B cell", "T cell"], 100))
    >>> obs = pd.DataFrame({"cell_type": known}, index=[f"cell{i}" for i in range(200)])
    >>> adata = anndata.AnnData(obs=obs, obsm={"X_pca": points})
    >>> adata.obsp["connectivities"] = iso.Graph.from_vectors(points).adjacency
    >>> label_transfer(adata, "cell_type")
    >>> adata.obs["isotherm"].value_counts().to_dict()
    {'B cell': 100, 'T cell': 100}
    """
    if not hasattr(adata, "obsp"):
        raise TypeError(f"adata must be an AnnData object, not {type(adata).__name__}")
    cells = adata.copy() if copy else adata
    if labels not in cells.obs:
        message = "obs has no {column!r}: give one of {known} as {labels}"
        known = first_few(cells.obs.columns.tolist()) or "its columns"
        raise ParameterError(message, column=labels, known=known, labels=Option("labels"))
    words = {normal_label(word) for word in ([unknown] if isinstance(unknown, str) else unknown)}
    seeds = {
        cell: label
        for cell, label in annotation(cells, labels).items()
        if not (isinstance(label, str) and (is_missing_word(label) or normal_label(label) in words))
    }
    if not seeds:
        raise ParameterError(f"no cell has a known type in obs[{labels!r}]: annotate some of them")
    graph = Graph.from_scipy(connectivities(cells, neighbors_key), nodes=barcodes(cells))
    rows = components(cells, neighbors_key, use_rep)
    clf = NodeClassifier("probable") if classifier is None else classifier
    clf.fit(graph, seeds, evidence="auto" if rows is None else Evidence.of_table(rows))
    order = getattr(cells.obs[labels].dtype, "categories", ())
    for part, entries in cell_entries(clf, key_added, order).items():
        for name, value in entries.items():
            getattr(cells, part)[name] = value
    return cells if copy else None


def cell_entries(clf: GraphClassifier, key: str, order: Iterable[Any] = ()) -> dict[str, dict[str, Any]]:
    """What a fit adds to cells: entries of ``obs``, ``obsm`` and ``uns``. Types keep this order, if it is known."""
    import pandas as pd

    classes, codes = clf.classes_, clf.fitted_.one_label("labels_").codes
    place = {label: position for position, label in enumerate(order)}
    columns = np.argsort([place.get(label, len(place)) for label in classes.tolist()], kind="stable")
    types = pd.Categorical.from_codes(np.where(codes < 0, -1, np.argsort(columns)[codes]), classes[columns].tolist())
    return {
        "obs": {key: types, f"{key}_confidence": clf.confidence_},
        "obsm": {f"{key}_probabilities": clf.predict_proba()[:, columns]},
        "uns": {key: {"classes": classes[columns], "experts": clf.fitted_.experts, "rule": clf.rule_}},
    }
