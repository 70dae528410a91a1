"""The commands, by name."""

from cyclopts import App
from cyclopts.config import Env

from isotherm.cli import classify, datasets, demo, evaluate, explain, reproduce, suggest
from isotherm.cli.help import Columns
from isotherm.cli.options import OPTIONS, VARIABLES

__all__ = ["app"]

EPILOGUE = f"""isotherm COMMAND --help has the options and examples of a command.
{VARIABLES}"""


def version() -> str:
    """What to name in a bug report."""
    import platform
    from importlib import metadata

    from isotherm import kernels

    own = metadata.version("isotherm")
    return f"isotherm {own}, Python {platform.python_version()}, kernels {kernels.description()}"


app = App(
    name="isotherm",
    help="Label a whole graph from a few known nodes, by heat diffusion at equilibrium.",
    version=version,
    help_format="plaintext",
    help_formatter=Columns(),
    help_epilogue=EPILOGUE,
    group_parameters=OPTIONS,
    config=Env("ISOTHERM_", command=False, show=False),
    suppress_keyboard_interrupt=False,
)
app.command(classify.classify, help_epilogue=classify.EXAMPLES, sort_key=1)
app.command(explain.explain, usage=explain.USAGE, help_epilogue=explain.EXAMPLES, sort_key=2)
app.command(suggest.suggest, usage=suggest.USAGE, help_epilogue=suggest.EXAMPLES, sort_key=3)
app.command(evaluate.evaluate, help_epilogue=evaluate.EXAMPLES, sort_key=4)
app.command(demo.demo, help_epilogue=demo.EXAMPLES, sort_key=5)
app.command(datasets.datasets)
app.command(
    reproduce.reproduce,
    usage="isotherm reproduce [OPTIONS] [NAMES...]",
    help_epilogue=reproduce.EXAMPLES,
    sort_key=7,
)
app.register_install_completion_command(help="Install completion for this shell.")
for flag in ("--help", "--version", "--install-completion"):
    app[flag].group = OPTIONS
app["--help"].help = "Show this, or the help of a command."
app["--version"].help = "Show the version, the kernels and the number of threads."
