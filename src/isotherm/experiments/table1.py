"""Table 1: the datasets, as loaded."""

from collections.abc import Iterator

import numpy as np

from isotherm.experiments.base import Data, Draw, Experiment, Measurement, Setting
from isotherm.experiments.real_graphs import SINGLE_LABEL, graph_settings, load_graph

__all__ = ["CLASSES", "EDGES", "EXPERIMENT", "LABELLED", "LOADED", "NODES"]

NODES, EDGES, CLASSES, LABELLED = "nodes", "edges", "classes", "percent labelled"
LOADED = "as loaded"


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each graph at hand."""
    listed = graph_settings((*SINGLE_LABEL, "dblp", "amazon"))("", data)
    return [Setting(protocol, setting.case) for setting in listed]


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """Count; as in the paper, the edges of an undirected graph count twice."""
    dataset = load_graph(setting.case, data)
    yield Measurement(0, "", NODES, dataset.graph.n_nodes)
    yield Measurement(0, "", EDGES, dataset.graph.csr.entries)
    yield Measurement(0, "", CLASSES, dataset.n_classes)
    yield Measurement(0, "", LABELLED, 100 * float(np.mean(dataset.labelled)))


EXPERIMENT = Experiment("table1", "Table 1: datasets", settings, run, protocols=(LOADED,), repeated=False)
