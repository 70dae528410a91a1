"""Table 1: the size of each dataset, as loaded."""

from collections.abc import Iterator

import numpy as np

from isotherm.paper.running.experiment import Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.running.real_graphs import SINGLE_LABEL, graph_settings, load_graph

__all__ = ["CLASSES", "EDGES", "EXPERIMENT", "LABELLED", "LOADED", "NODES"]

NODES, EDGES, CLASSES, LABELLED = "nodes", "edges", "classes", "percent labelled"
LOADED = "as loaded"


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each available graph."""
    listed = graph_settings((*SINGLE_LABEL, "dblp", "amazon"))("", data)
    return [Setting(protocol, setting.case) for setting in listed]


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """Counts of one graph; as in the paper, an edge of an undirected graph counts twice."""
    dataset = load_graph(setting.case, data)
    yield Measurement(0, "", NODES, dataset.graph.n_nodes)
    yield Measurement(0, "", EDGES, dataset.graph.csr.entries)
    yield Measurement(0, "", CLASSES, dataset.n_classes)
    yield Measurement(0, "", LABELLED, 100 * float(np.mean(dataset.labelled)))


EXPERIMENT = Experiment("table1", "Table 1: datasets", settings, run, protocols=(LOADED,), repeated=False)
