"""The warning about a solve that stopped early.

It has its own file because scikit-learn takes two seconds to import: code that only solves, such as a worker of a
cluster, imports it when there is something to warn about.
"""

from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from isotherm.errors import Worded


class ConvergenceWarning(Worded, SklearnConvergenceWarning):  # type: ignore[misc]
    """A solve stopped before it met its tolerance; also a ConvergenceWarning of scikit-learn."""
