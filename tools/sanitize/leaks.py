"""Fail if the kernels leaked memory: reads the reports of LeakSanitizer, whose files and library are the arguments.

Python leaks at its end, so reports without a frame of the library are skipped. So are the tables of functions that
nanobind makes once, when the library is imported.
"""

import re
import subprocess
import sys
from pathlib import Path

ONCE = "nb_func_new"


def main() -> int:
    """Print each leak with its functions; the exit status is 1 if there is one."""
    library, *files = sys.argv[1:]
    reports = [report for file in files for report in Path(file).read_text().split("\n\n") if "leak of" in report]
    found = [traced for report in reports if (traced := _traced(report, library)) and ONCE not in traced]
    print(*found, f"{len(reports)} leaks in all, {len(found)} of them by the kernels", sep="\n")
    return 1 if found or not reports else 0  # no report at all means that nothing was looked for


def _traced(report: str, library: str) -> str:
    """The report with the functions of the library; empty if none of its frames is there."""
    places = re.findall(rf"{re.escape(Path(library).name)}\+(0x[0-9a-f]+)", report)
    if not places:
        return ""
    command = ["addr2line", "--functions", "--demangle", "--pretty-print", "--exe", library, *places]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return f"{report.strip().splitlines()[0]}\n{names}"


if __name__ == "__main__":
    sys.exit(main())
