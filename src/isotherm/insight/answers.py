"""Answers of a fitted classifier about single nodes: why they have their labels, and which to label next."""

from collections.abc import Iterable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from isotherm.arrays import Mask
from isotherm.insight.explain.explanation import Explanation
from isotherm.insight.insight import Insight

__all__ = ["Answering"]


class Answering:
    """The part of a classifier that explains and suggests."""

    _held_insight: Insight
    calibration: str | None

    @property
    def insight_(self) -> Insight:
        """What the fit tells besides labels, in one object; the methods of the classifier read it."""
        check_is_fitted(self)
        return self._held_insight

    @property
    def confidence_(self) -> Any:
        """Probability of the label of each node; if nodes have several labels, a sparse matrix of that of each."""
        return self.insight_.confidence.certainty(calibrated=bool(self.calibration))

    def predict_set(self, coverage: float = 0.9) -> Mask:
        """For each node the classes that it may have, shape (n, K): a share ``coverage`` of the sets has the right one.

        This holds on average over nodes that are drawn as the seeds were, by split-conformal prediction on held-out
        seeds. With too few of them, and at unreached nodes, sets have all classes; a seed has its own class only. Where
        no class is probable enough, a set is empty.
        """
        return self.insight_.prediction_sets(coverage, calibrated=bool(self.calibration))

    @property
    def calibration_(self) -> Any:
        """How temperatures become probabilities; None if they are the softmax of the scores."""
        told = self.insight_.by_held_out_seeds("calibration_")
        return None if self.calibration is None else told.calibration

    def explain(self, node: Any, *, top: int | None = None) -> Explanation:
        """The seeds that heat a node, with shares that add up to 1: a table of "seed", "label" and "share".

        With ``top``, only so many seeds, those with the largest shares.
        """
        return self.explain_many([node], top=top)[0]

    def explain_many(self, nodes: Iterable[Any], *, top: int | None = None) -> list[Explanation]:
        """The seeds that heat each of some nodes, found for 16 nodes at once; see :meth:`explain`."""
        return self.insight_.explainer.explain(nodes, top=top)

    def suggest(
        self,
        k: int = 10,
        *,
        policy: str = "diverse",
        label: Any = None,
        among: Iterable[Any] | None = None,
        return_values: bool = False,
    ) -> Any:
        """The k nodes most worth labelling next, the best first; never a seed. See docs/labelling.md.

        Parameters
        ----------
        k : int
            How many.
        policy : {"diverse", "uncertainty", "margin", "likely"}
            "diverse" saves the most labels: it takes nodes that are like many others but like no seed. "uncertainty"
            takes nodes that would mend many errors, "margin" those whose two best scores are closest. "likely" is for
            review queues: it takes the most probable members of one class, ``label``.
        label : label, optional
            With "likely", the class to look for.
        among : iterable, optional
            The nodes that can be labelled; by default all.
        return_values : bool
            Whether to give also what each is worth, to be compared with others of the same call.

        Examples
        --------
        >>> import isotherm as iso
        >>> star = iso.Graph.from_edges(["a", "b", "hub", "hub", "hub"], ["b", "hub", "x", "y", "z"])
        >>> iso.DirichletClassifier().fit(star, {"a": 0, "b": 1}).suggest(1)
        array(['hub'], dtype=object)
        """
        calibrated = bool(self.calibration)
        chosen, values = self.insight_.suggest(k, policy=policy, label=label, among=among, calibrated=calibrated)
        nodes = self.insight_.fit.graph.nodes[chosen]
        return (nodes, values) if return_values else nodes
