"""Functions beside the estimators.

`plan` says what a fit would do, without rows; `locally_linear_embedding` is scikit-learn's function on our model. They
make a model, ask it, and keep nothing. `influence` asks a fitted model what drives its components, `contributions` who
made them, `clusters` whether they show any. `rows_in_files` and `verdicts` write what models say of rows, and `health`
says what there is on a machine. None of them changes a model.
"""
