"""Compatibility: which classes are neighbours of which, learnt from paths between seeds.

Heat needs classes whose members are neighbours. Where links join different classes instead, seeds still say which: the
classes at both ends of a path tell how classes follow each other. There are few links between seeds, but many longer
paths. So paths of one to five links are counted that never go straight back over the link they came by, and one matrix
of compatibilities is fitted whose powers match these counts (Kumar, Langton and Gatterbauer 2020). Labels then spread
along links, each time multiplied by that matrix: linearised belief propagation.

Counts are compared with what chance alone would give, so classes need not be equally large. The compatibilities are a
symmetric matrix: its eigenvalues are positive for classes that keep together, negative for those that avoid each other.
"""

from collections.abc import Sequence

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.probability.experts.expert import Expert, Knowledge, Question, links
from isotherm.probability.optimise import Local, minimum
from isotherm.seeds import Seeds

LONGEST = 5  # links of a path
GROWTH = 10.0  # factor of the weight of paths for each link more, since powers of compatibilities shrink
FEW = 128  # seeds up to which paths from a seed back to itself are left out
STEPS, RADIUS = 15, 0.95  # steps of propagation, and how much a step shrinks what it spreads
LARGEST = 8.0  # beliefs are clipped, in units of the usual ones


class Compatibility(Expert):
    """Beliefs by the classes of neighbours and the compatibilities of classes."""

    def __init__(self, known: Knowledge) -> None:
        csr = links(known.graph)
        plain, threads = csr._replace(weights=None), known.options.threads
        self.degrees = np.diff(csr.indptr).astype(np.float32)
        self.paths = Averaging(plain, np.ones(csr.n), n_threads=threads)
        root = np.divide(1, np.sqrt(csr.sums), out=np.zeros(csr.n), where=csr.sums > 0)
        self.spread = Averaging(csr, root, inner=root, n_threads=threads)
        self.constant = np.sqrt(csr.sums / csr.sums.sum()).astype(np.float32)  # (n,) the leading eigenvector of it

    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) logarithms of the beliefs; NaN where nothing arrives."""
        seeds = question.seeds.take(question.visible)
        return self.beliefs(seeds, estimated(self.ratios(seeds), seeds.smoothed_shares))[question.nodes]

    def ratios(self, seeds: Seeds) -> list[Doubles]:
        """(K, K) the number of paths of each length between the seeds of two classes, over that by chance.

        By chance, paths end in proportion to degrees. Where no path is possible, the ratio is NaN.
        """
        single = len(seeds.nodes) <= FEW
        groups = np.arange(len(seeds.nodes)) if single else seeds.codes
        ends = self.degrees[seeds.nodes].astype(np.float64)
        pairs = np.outer(*2 * [np.bincount(seeds.codes, ends, seeds.n_classes)])
        if single:  # a seed makes no pair with itself
            pairs -= np.diag(np.bincount(seeds.codes, ends**2, seeds.n_classes))
        before = np.zeros((len(self.degrees), int(groups.max()) + 1), np.float32)
        before[seeds.nodes, groups] = 1
        now, found = self.paths @ before, []
        back = self.degrees[:, None]  # ways straight back: at first all, later one is left
        for _ in range(LONGEST):
            counts = now[seeds.nodes].astype(np.float64)
            if single:
                np.fill_diagonal(counts, 0)
                counts = _summed(counts.T, seeds.codes, seeds.n_classes).T
            counts = _summed(counts, seeds.codes, seeds.n_classes)
            chance = pairs * (counts.sum() / max(pairs.sum(), 1))
            found.append(np.divide(counts, chance, out=np.full_like(counts, np.nan), where=chance > 0))
            before, now = now, self.paths @ now - back * before
            back = self.degrees[:, None] - 1
        return found

    def beliefs(self, seeds: Seeds, compatibilities: Doubles) -> Floats:
        """(n, K) logarithms of beliefs in each class."""
        shares = seeds.smoothed_shares
        size = np.abs(np.linalg.eigvalsh(compatibilities)).max(initial=0)
        step = (compatibilities * (RADIUS / size if size > 0 else 0)).astype(np.float32)
        start = np.zeros((len(self.degrees), seeds.n_classes), np.float32)
        start[seeds.nodes, seeds.codes] = 1 / np.sqrt(shares)[seeds.codes]
        start[seeds.nodes] -= np.sqrt(shares)
        now = start = self._deflated(start)
        for _ in range(STEPS):
            now = self._deflated(self.spread @ now) @ step + start
        logits = now.astype(np.float64) / np.sqrt(shares)
        logits -= logits.mean(axis=1, keepdims=True)
        sizes = np.sqrt(np.einsum("nk,nk->n", logits, logits) / seeds.n_classes)
        arrived = sizes > 0
        usual = float(np.median(sizes[arrived])) if arrived.any() else 1.0  # seeds and their neighbours have far more
        logits = np.log(shares) + np.clip(logits / usual, -LARGEST, LARGEST)
        logits[~arrived] = np.nan
        return logits

    def _deflated(self, beliefs: Floats) -> Floats:
        """Beliefs (n, K) without what is the same everywhere: it only says which class has the most seeds."""
        return beliefs - np.outer(self.constant, self.constant @ beliefs)


def estimated(ratios: Sequence[Doubles], shares: Doubles) -> Doubles:
    """(K, K) the compatibilities whose powers are closest to what paths say beyond chance.

    ``ratios`` are the numbers of paths of each length over those by chance; NaN where there can be no path.
    """
    root = np.sqrt(shares / shares.sum())
    wanted = [np.outer(root, root) * (each - 1) for each in ratios]
    loss = _Loss(wanted, GROWTH ** np.arange(len(wanted), dtype=np.float64), np.eye(len(root)) - np.outer(root, root))
    starts = [loss.projected(start) for start in _starts([np.nan_to_num(each) for each in wanted])]
    return minimum(loss, min(starts, key=lambda start: loss(start).value))


def _starts(wanted: Sequence[Doubles]) -> list[Doubles]:
    """Roots of the wanted powers; an even power says nothing about signs, so these come from the odd one before."""
    found = []
    for power, each in enumerate(wanted, start=1):
        values, axes = np.linalg.eigh((each + each.T) / 2)
        sizes = np.abs(values) ** (1 / power)
        signs = np.sign(values) if power % 2 else np.sign(np.einsum("ik,ij,jk->k", axes, wanted[power - 2], axes))
        found.append((axes * (signs * sizes)) @ axes.T)
    return found


class _Loss:
    """The weighted sum of squared differences between powers of a matrix and what is wanted of them.

    Entries that are NaN are not wanted. Only matrices count that ``projection`` leaves as they are.
    """

    def __init__(self, wanted: Sequence[Doubles], weights: Doubles, projection: Doubles) -> None:
        self.wanted, self.weights, self.projection = wanted, weights, projection

    def projected(self, x: Doubles) -> Doubles:
        """The symmetric part of a matrix (K, K), projected on both sides."""
        return self.projection @ (x + x.T) @ self.projection / 2

    def __call__(self, x: Doubles) -> Local:
        powers = [np.eye(len(x))]
        for _ in self.wanted:
            powers.append(powers[-1] @ x)
        gaps = [np.nan_to_num(power - each) for power, each in zip(powers[1:], self.wanted, strict=True)]
        value = sum(float(weight * np.vdot(gap, gap)) for weight, gap in zip(self.weights, gaps, strict=True)) / 2

        def pulled(errors: Sequence[Doubles]) -> Doubles:
            found = np.zeros_like(x)
            for length, (weight, error) in enumerate(zip(self.weights, errors, strict=True), start=1):
                for first in range(length):
                    found += weight * powers[first] @ error @ powers[length - 1 - first]
            return self.projected(found)

        def curve(step: Doubles) -> Doubles:
            changes = [
                sum(powers[first] @ step @ powers[length - first] for first in range(length + 1))
                for length in range(len(self.wanted))
            ]
            known = [~np.isnan(each) for each in self.wanted]
            return pulled([each * mask for each, mask in zip(changes, known, strict=True)])

        return Local(value, pulled(gaps), curve)


def _summed(rows: Doubles, codes: Ints, n_classes: int) -> Doubles:
    """(K, c) rows (s, c) summed by class."""
    found = np.zeros((n_classes, rows.shape[1]))
    np.add.at(found, codes, rows)
    return found
