"""The commands, by name."""

from cyclopts import App

from isotherm.cli import classify, datasets, demo, evaluate, reproduce

__all__ = ["app"]


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
    help_epilogue="isotherm COMMAND --help has the options and examples of a command.",
    suppress_keyboard_interrupt=False,
)
app.command(classify.classify, help_epilogue=classify.EXAMPLES)
app.command(evaluate.evaluate, help_epilogue=evaluate.EXAMPLES)
app.command(demo.demo, help_epilogue=demo.EXAMPLES)
app.command(datasets.datasets)
app.command(reproduce.reproduce, help_epilogue=reproduce.EXAMPLES)
app.register_install_completion_command(help="Install completion for this shell.")
