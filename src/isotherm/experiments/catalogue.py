"""All experiments, by name, in the order of the report."""

from isotherm.experiments import (
    draws,
    figure1,
    figure2a,
    figure2b,
    figure3a,
    figure3b,
    figure4,
    panel,
    sbm,
    table1,
    table2,
    table3,
    table4,
)
from isotherm.experiments.base import Experiment

__all__ = ["EXPERIMENTS"]

MODULES = (figure1, figure2a, figure2b, figure3a, figure3b, table1, table2, table3, table4, figure4, draws, panel, sbm)

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
