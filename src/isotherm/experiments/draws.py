"""Beyond the paper: tables 2 to 4 over ten times as many draws, which tells chance from a difference.

Only on the paper's own graphs; in the corrected protocol without table 4, where a draw takes long.
"""

from collections.abc import Iterator

from isotherm.experiments import table2, table3, table4
from isotherm.experiments.base import CORRECTED, Data, Draw, Experiment, Measurement, Setting
from isotherm.experiments.real_graphs import BOTH_SIDES, HUGE, stands_in
from isotherm.experiments.scoring import ALL, LOST, SHIFTED, UNREACHED

__all__ = ["EXPERIMENT", "case_of"]

TABLES = {module.EXPERIMENT.name: module.EXPERIMENT for module in (table2, table3, table4)}
KEPT = (SHIFTED, ALL, LOST, UNREACHED)


def case_of(table: str, graph: str) -> str:
    """The case in which a graph of a table is drawn many times.

    >>> case_of("table2", "cora")
    'table2 cora'
    """
    return f"{table} {graph}"


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each table and graph."""
    return [
        Setting(protocol, case_of(name, setting.case))
        for name, table in TABLES.items()
        if (name, protocol) != ("table4", CORRECTED)
        for setting in table.settings(protocol, data)
        if not stands_in(setting.case) and not setting.case.endswith(BOTH_SIDES) and setting.case not in HUGE
    ]


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """A draw of the table, of which the scores over all nodes are kept."""
    name, _, graph = setting.case.partition(" ")
    for measured in TABLES[name].run(Setting(setting.protocol, graph), draw, data):
        if measured.measure in KEPT and measured.x == 0:
            yield measured


EXPERIMENT = Experiment("draws", "Chance: the tables over ten times as many draws", settings, run, times=10)
