"""The methods that can be compared, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TypeAlias

from isotherm.node_classifier import RULE_NAMES
from isotherm.study.comparison import diffusions, ours, packages, regressions
from isotherm.study.comparison.scores import Answer
from isotherm.study.comparison.tasks import Draw, Task

__all__ = ["METHODS", "Method"]

Run: TypeAlias = Callable[[Task, Draw], Answer]


@dataclass(frozen=True)
class Method:
    """A way to find labels.

    Attributes
    ----------
    name
        The name in tables.
    run
        From a task and a draw to an answer.
    needs
        The package that must be installed.
    features
        Whether it needs features of the nodes.
    ours
        Whether it is Isotherm.
    """

    name: str
    run: Run
    needs: str = "isotherm"
    features: bool = False

    @property
    def ours(self) -> bool:
        """Whether this is Isotherm."""
        return self.name.startswith("Isotherm")

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.needs) is not None


def _own() -> list[Method]:
    """Isotherm as it is by default, with each rule, and with evidence beside the links."""
    rules = [Method(f"Isotherm, rule {rule}", partial(ours.by_rule, rule=rule)) for rule in RULE_NAMES]
    return [
        Method("Isotherm", partial(ours.by_rule, sets=True)),
        *rules,
        Method("Isotherm, most probable", ours.most_probable),
        *_with_evidence(),
    ]


def _with_evidence() -> list[Method]:
    both = partial(ours.with_evidence, features=True, structure="spectral")
    return [
        Method("Isotherm, heat alone", partial(ours.with_evidence, structure=None)),
        Method("Isotherm, features", partial(ours.with_evidence, features=True), features=True),
        Method("Isotherm, features and spectral evidence", both, features=True),
    ]


def _scikit_network() -> list[Method]:
    names = {"diffusion": "DiffusionClassifier", "PageRank": "PageRankClassifier"}
    names |= {"propagation": "Propagation", "nearest neighbours": "NNClassifier"}
    return [
        Method(f"scikit-network {short}", partial(packages.network_classifier, name=name), needs="sknetwork")
        for short, name in names.items()
    ]


def _graph_learning() -> list[Method]:
    return [
        Method(f"GraphLearning {name}", partial(packages.graph_learning, name=name), needs="graphlearning")
        for name in ("laplace", "poisson", "randomwalk")
    ]


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *_own(),
        *_scikit_network(),
        *_graph_learning(),
        Method("PyG label propagation", packages.torch_propagation, needs="torch_geometric"),
        Method("label spreading", diffusions.label_spreading),
        Method("spectral + regression", regressions.spectral_regression, needs="sknetwork"),
        Method("regression on X", regressions.feature_regression, features=True),
        Method("SGC", regressions.simple_graph_convolution, features=True),
        Method("regression on X, PX, P²X", regressions.hop_regression, features=True),
        Method("Correct and Smooth", diffusions.correct_and_smooth, features=True),
    )
}
