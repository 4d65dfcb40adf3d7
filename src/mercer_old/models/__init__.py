"""What users touch: estimators, and nothing else.

`KernelPCA`, `PCA`, `IncrementalPCA`, `LocallyLinearEmbedding` and their relatives `FactorAnalysis`, `GPLVM` and
`Autoencoder` hold parameters and fitted names, check the first and
set the second in one place. How an answer is found is in `fits`. `base` writes scores to files and makes plans;
`linear`, `kernel_model` and `local_model` are what a family does with its parameters. `NoveltyDetector` asks a fitted
one, through `sides`, where new rows are.
"""
