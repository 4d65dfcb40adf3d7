"""The relatives of PCA behind one contract: what each keeps and assumes, a fit, new rows, the way back.

`base` is the contract. Our own models are in `ours`; of other libraries there is one file each, the only one that
imports it, when it is asked to: `independent` (ICA), `tsne`, `umap_learn`. `front` puts our PCA or kernel PCA before
them, as a start or to take away noise. `registry` knows all by name; `apart` fits one in a process of its own, which is
`child`. Nothing here measures how good an answer is: that is what readings do, and `studies.comparison` asks them.
"""

from mercer_old.relatives.base import Fitted, Method
from mercer_old.relatives.independent import ICA
from mercer_old.relatives.ours import Ours
from mercer_old.relatives.registry import METHODS, method
from mercer_old.relatives.tsne import TSNE
from mercer_old.relatives.umap_learn import UMAP

__all__ = ["ICA", "METHODS", "TSNE", "UMAP", "Fitted", "Method", "Ours", "method"]
