"""The commands, by name."""

from cyclopts import App
from cyclopts.config import Env

from isotherm.cli.commands import (
    cite,
    classify,
    compare,
    datasets,
    demo,
    evaluate,
    explain,
    explore,
    pack,
    plot,
    reproduce,
    suggest,
    update,
)
from isotherm.cli.options import OPTIONS, VARIABLES
from isotherm.cli.terminal.text import TwoColumns

__all__ = ["app"]

EPILOGUE = f"""isotherm COMMAND --help has the options and examples of a command.
{VARIABLES}"""


def version() -> str:
    """What a bug report needs."""
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
    help_formatter=TwoColumns(),
    help_epilogue=EPILOGUE,
    group_parameters=OPTIONS,
    config=Env("ISOTHERM_", command=False, show=False),
    suppress_keyboard_interrupt=False,
)
app.command(classify.classify, usage=classify.USAGE, help_epilogue=classify.EXAMPLES, sort_key=1)
app.command(explain.explain, usage=explain.USAGE, help_epilogue=explain.EXAMPLES, sort_key=2)
app.command(suggest.suggest, usage=suggest.USAGE, help_epilogue=suggest.EXAMPLES, sort_key=3)
app.command(update.update, help_epilogue=update.EXAMPLES, sort_key=3.2)
app.command(explore.explore, usage=explore.USAGE, help_epilogue=explore.EXAMPLES, sort_key=3.5)
app.command(plot.plot, help_epilogue=plot.EXAMPLES, sort_key=3.6)
app.command(evaluate.evaluate, usage=evaluate.USAGE, help_epilogue=evaluate.EXAMPLES, sort_key=4)
app.command(compare.compare, help_epilogue=compare.EXAMPLES, sort_key=4)
app.command(demo.demo, help_epilogue=demo.EXAMPLES, sort_key=5)
app.command(pack.pack, usage=pack.USAGE, help_epilogue=pack.EXAMPLES, sort_key=6)
app.command(cite.cite, help_epilogue=cite.EXAMPLES, sort_key=8)
app.command(datasets.datasets)
app.command(reproduce.reproduce, usage=reproduce.USAGE, help_epilogue=reproduce.EXAMPLES, sort_key=7)
app.register_install_completion_command(help="Install completion for this shell.")
for flag in ("--help", "--version", "--install-completion"):
    app[flag].group = OPTIONS
app["--help"].help = "Show this, or the help of a command."
app["--version"].help = "Show the version, the kernels and the number of threads."
