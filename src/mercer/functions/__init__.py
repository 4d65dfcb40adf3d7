"""Functions beside the estimators.

`plan` says what a fit would do, without rows; `locally_linear_embedding` is scikit-learn's function on our model. They
make a model, ask it, and keep nothing. Whoever has a model at hand needs none of them.
"""
