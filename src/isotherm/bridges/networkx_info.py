"""The description of the backend, which networkx reads when it is imported; so this module imports nothing."""

from typing import Any


def get_info() -> dict[str, Any]:
    """Name, summary and functions of the backend, in the form that networkx wants."""
    equilibrium = {
        "rule : str, optional": "Go on to equilibrium, and decide by this rule of isotherm.DirichletClassifier.",
        "tol : float, optional": "Go on to equilibrium, to this error relative to the spread of temperatures.",
    }
    return {
        "backend_name": "isotherm",
        "project": "isotherm",
        "package": "isotherm",
        "short_summary": "Node classification by heat diffusion, with networkx's answers or at equilibrium.",
        "functions": {"harmonic_function": {"additional_parameters": equilibrium}, "local_and_global_consistency": {}},
    }
