"""What many fits, or many draws, say: questions that one fit cannot answer.

`tuning` compares kernels and bandwidths, and leaves what it found in `tuned`; `stability` draws rows again and again,
and says in `stable` which components stay where they are; `suggesting` has all rules for the number of components asked
by `asking`; `comparison` has all methods fitted to the same rows (`same_rows`), measured (`measuring`) and written down
(`compared`), with what follows from it (`advice`). A study makes fits of its own, on samples, folds or draws of the
rows, and gives back a record that can be read, printed and drawn; it changes no model that it is given. The formulas
are in `readings`, and need no model.
"""
