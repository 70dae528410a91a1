"""Labels for the graph of Wikipedia articles (WL): clusters of articles by the words that they use.

The source has no labels. The paper clusters the biadjacency matrix of articles and words with Louvain's algorithm and
merges all clusters beyond the ninth, which leaves ten classes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

__all__ = ["merge_small", "word_clusters"]

N_CLASSES = 10


def word_clusters(biadjacency: Any, *, n_classes: int = N_CLASSES, random_state: int = 0) -> NDArray[np.int64]:
    """A class for each row of a biadjacency matrix: its cluster, numbered from the largest; the last holds the rest.

    Needs scikit-network.
    """
    try:
        from sknetwork.clustering import Louvain
    except ImportError as error:
        message = "the labels of wikilinks need scikit-network: pip install scikit-network"
        raise ImportError(message, name="sknetwork") from error
    words = csr_matrix(biadjacency, dtype=bool)
    louvain = Louvain(resolution=1, modularity="Dugue", random_state=random_state)
    louvain.fit(words, force_bipartite=True)
    return merge_small(np.asarray(louvain.labels_row_), n_classes)


def merge_small(clusters: NDArray[Any], n_classes: int) -> NDArray[np.int64]:
    """Clusters renumbered from the largest, those beyond the first ``n_classes - 1`` merged into one.

    >>> merge_small(np.array([7, 7, 7, 2, 2, 5, 9]), 3).tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """
    _, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank[places], n_classes - 1).astype(np.int64)
