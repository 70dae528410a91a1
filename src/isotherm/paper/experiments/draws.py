"""Beyond the paper: tables 2 to 4 with ten times as many draws, to tell sampling noise from a real difference.

Only on the paper's own graphs. The corrected protocol leaves out table 4, where a draw takes long.
"""

from collections.abc import Iterator

from isotherm.paper.experiments import table4, tables_2_and_3
from isotherm.paper.running.experiment import CORRECTED, Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.running.real_graphs import BOTH_SIDES, HUGE, stands_in
from isotherm.paper.running.scoring import ALL, LOST, SHIFTED, UNREACHED

__all__ = ["EXPERIMENT", "case_of"]

TABLES = {table.name: table for table in (*tables_2_and_3.EXPERIMENTS, table4.EXPERIMENT)}
KEPT = (SHIFTED, ALL, LOST, UNREACHED)


def case_of(table: str, graph: str) -> str:
    """The name of the case for one table and graph.

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
    """One draw of the table; only the scores over all nodes are kept."""
    name, _, graph = setting.case.partition(" ")
    for measured in TABLES[name].run(Setting(setting.protocol, graph), draw, data):
        if measured.measure in KEPT and measured.x == 0:
            yield measured


EXPERIMENT = Experiment("draws", "Chance: the tables over ten times as many draws", settings, run, times=10)
