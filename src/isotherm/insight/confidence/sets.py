"""How certain labels are when a node may have several: each label has its own probability."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles
from isotherm.errors import warn
from isotherm.insight.confidence.calibration import CalibrationWarning
from isotherm.insight.confidence.found import Found
from isotherm.insight.confidence.label_odds import LabelOdds, fit_odds
from isotherm.labelling.fit import Fit
from isotherm.labelling.outcome.outcomes import over_neighbours
from isotherm.labelling.outcome.several import TOO_FEW, LabelSets, hide

__all__ = ["SetConfidence"]


class SetConfidence:
    """How certain the labels of a fit are, if seeds have sets of labels.

    Parameters
    ----------
    fit : Fit
        The fit.
    outcome : LabelSets
        Its outcome.
    found : Found, optional
        Earlier results from hidden seeds.
    """

    def __init__(self, fit: Fit, outcome: LabelSets, found: Found | None = None) -> None:
        self.fit, self.outcome, self.found = fit, outcome, found or Found()

    @property
    def odds(self) -> LabelOdds:
        """How temperatures become probabilities, fitted to hidden seeds; warns if these are too few."""
        odds = self.found.label_odds
        if odds is None:
            fit, hidden = self.fit, self.outcome.hidden
            hidden = hide(fit.problem, fit.seeds, fit.options, fit.by_temperatures) if hidden is None else hidden
            odds = fit_odds(hidden.temperatures, hidden.truth)
            self.found = replace(self.found, label_odds=odds)
        if odds.n_seen < TOO_FEW:
            message = f"with {odds.n_seen} labels on hidden seeds, probabilities are hardly more than temperatures"
            warn(f"{message}; label more nodes", CalibrationWarning)
        return odds

    def probabilities(self, *, calibrated: bool, weights: csr_array | None = None) -> Doubles:
        """(n, L) the probability of each label, for the nodes or for new nodes; uncalibrated, its temperature."""
        temperatures = self.outcome.temperatures
        if weights is not None:
            temperatures = over_neighbours(weights, temperatures)
        plain = np.nan_to_num(temperatures).astype(np.float64)
        found = self.odds.probabilities(temperatures) if calibrated else plain
        if weights is None:
            held = self.fit.seeds.held
            found[held.nodes] = held.values()
        return found

    def certainty(self, *, calibrated: bool) -> csr_array:
        """(n, L) the probability of the labels that were found; 1 at seeds."""
        warmth = self.outcome.warmth
        if not calibrated:
            return warmth
        probabilities = self.odds.probabilities(warmth.data)
        held = np.zeros(warmth.shape[0], bool)
        held[self.fit.seeds.held.nodes] = True
        probabilities[np.repeat(held, np.diff(warmth.indptr))] = 1
        return csr_array((probabilities, warmth.indices, warmth.indptr), warmth.shape)
