"""The warning about a solve that stopped early, in a file of its own: scikit-learn takes two seconds to import.

Whoever only solves, such as a worker of a cluster, imports this file when there is something to warn about.
"""

from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from isotherm.errors import Worded

__all__ = ["ConvergenceWarning"]


class ConvergenceWarning(Worded, SklearnConvergenceWarning):  # type: ignore[misc]
    """A solve stopped before it met its tolerance; also a ConvergenceWarning of scikit-learn."""
