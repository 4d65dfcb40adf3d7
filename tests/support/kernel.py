"""Rows for kernel PCA."""

import numpy as np
from sklearn.datasets import make_blobs

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 4)), rng.normal(size=(9, 4))
BLOBS = make_blobs(700, 6, centers=4, random_state=0)[0]
