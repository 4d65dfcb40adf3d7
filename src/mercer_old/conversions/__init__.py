"""Fitted models as files that other programs read: ONNX, PLINK, flashpca, CSV and npz.

`convert` chooses a format and writes all of its files or none. A format is a function from a model to the content of
its files and to words about them; it computes no model anew, and reads nothing back. `onnx` writes the way from rows to
scores; `plink` and `flashpca` write components of the training rows, and `tables` the fitted names.
"""
