"""The relatives of PCA behind one contract: what each keeps and assumes, a fit, new rows, the way back.

`base` is the contract. Our own models are in `ours`; of other libraries there is one file each, the only one that
imports it, when it is asked to: `independent` (ICA), `tsne`, `umap_learn`. `front` puts our PCA or kernel PCA before
them, as a start or to take away noise. `registry` knows all by name; `apart` fits one in a process of its own, which is
`child`. Nothing here measures how good an answer is: that is what readings do, and `studies.comparison` asks them.
"""

from mercer.relatives.base import Fitted, Method
from mercer.relatives.independent import ICA
from mercer.relatives.ours import Ours
from mercer.relatives.registry import METHODS, method
from mercer.relatives.tsne import TSNE
from mercer.relatives.umap_learn import UMAP

__all__ = ["ICA", "METHODS", "TSNE", "UMAP", "Fitted", "Method", "Ours", "method"]
