"""``isotherm reproduce``: the paper's figures and tables."""

from typing import Annotated, Literal

from isotherm.cli.options import Folder, Quiet, at_least, option, positional
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, in_options, say
from isotherm.cli.terminal.process import exit_cleanly

USAGE = "isotherm reproduce [OPTIONS] [NAMES...]"
EXAMPLES = """Examples:

  isotherm reproduce figure1 figure2a --runs 2
  isotherm reproduce all --output report --data graphs
"""


def reproduce(
    *names: Annotated[str, positional("What to reproduce, such as figure1 or table2; by default all.")],
    output: Folder = "out",
    data: Annotated[str | None, option("A folder of graphs.", "DIR")] = None,
    runs: Annotated[int, option("How often each setting is repeated.", "N", validator=at_least(1))] = 10,
    protocol: Annotated[Literal["authors", "corrected", "both"], option("Which to follow.", "NAME")] = "both",
    processes: Annotated[int, option("Processes that share the work.", "N", validator=at_least(1))] = 2,
    random_state: Annotated[int, option("Seed of all random draws.", "N", validator=at_least(0))] = 0,
    quiet: Quiet = False,
) -> None:
    """Repeat the experiments of the paper and write a report.

    A command that was stopped resumes when it is given again. Graphs that are
    neither in the folder nor in the user's cache are downloaded.
    """
    from isotherm import paper
    from isotherm.study.datasets import DownloadError

    with Job(quiet=quiet) as job, exit_cleanly(), job.stage("running") as bar:
        try:
            page = paper.reproduce(
                names or "all",
                out=output,
                data=data,
                runs=runs,
                protocols=("authors", "corrected") if protocol == "both" else (protocol,),
                processes=processes,
                seed=random_state,
                progress=bar.amount,
            )
        except DownloadError as error:
            raise UsageError(str(error)) from None
        except OSError as error:
            raise UsageError(
                f"{error.filename or output} failed: {error.strerror}; choose another folder with --output"
            ) from None
        except (ValueError, RuntimeError) as error:
            raise UsageError(in_options(error)) from None
        except KeyboardInterrupt:
            say("isotherm: stopped; give the same command again to resume")
            raise
    print(f"The report is in {page}")
