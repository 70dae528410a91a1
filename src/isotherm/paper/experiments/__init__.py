"""The experiments: every figure and table of the paper, and three studies beyond it.

A setting and its random numbers come in; measurements go out. Each module describes one experiment, or two that are
alike: its graphs, its seeds and what is measured. Read `tables_2_and_3.py` first, the shortest. `EXPERIMENTS` holds
them all by name, in the order of the report. Figure 1, also a program of its own, is in `isotherm.paper.figure1`.
"""

from isotherm.paper import figure1
from isotherm.paper.experiments import draws, figure4, figures_2_and_3, panel, sbm, table1, table4, tables_2_and_3
from isotherm.paper.running.experiment import Experiment

__all__ = ["EXPERIMENTS"]

_IN_ORDER = (
    figure1.EXPERIMENT,
    *figures_2_and_3.EXPERIMENTS,
    table1.EXPERIMENT,
    *tables_2_and_3.EXPERIMENTS,
    table4.EXPERIMENT,
    figure4.EXPERIMENT,
    draws.EXPERIMENT,
    panel.EXPERIMENT,
    sbm.EXPERIMENT,
)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _IN_ORDER}
