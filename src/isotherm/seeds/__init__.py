"""Seeds: the nodes whose labels are known.

In come labels, as a mapping or as one label per node. A label may be certain, a distribution over classes, weighted by
trust, or a set of labels. Out come `Seeds`: positions in the graph, class numbers, and the temperatures at which the
nodes are held. Labels are validated here, by `as_seeds`, and nowhere else.
Read ``known.py`` first. ``encoding.py`` numbers the classes, reads the index of a pandas Series and warns about labels
that hint at a mistake, and ``hiding.py`` draws seeds, deals them to folds and hides them.
"""

from isotherm.seeds.encoding import LabelWarning
from isotherm.seeds.known import RareClassWarning, Seeds, as_seeds

__all__ = ["LabelWarning", "RareClassWarning", "Seeds", "as_seeds"]
