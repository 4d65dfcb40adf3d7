"""What makes the models substitutes for scikit-learn's.

`as_sklearn` turns a fitted model into theirs, `current` notices arrays that somebody has set by hand, and `svd_solvers`
has the rules of their PCA. Nothing is computed here that a fit has not found. The models call it; it knows them by
their fitted names alone.
"""
