"""Texts: the systems that are measured, each imported when it is needed so that none has another's memory."""

import numpy as np

GRAMS = 3  # letters


def by_mercer(k):
    from mercer import KernelPCA
    from mercer.kernels import Spectrum

    return KernelPCA(k, kernel=Spectrum(GRAMS), random_state=0)


def of_counts(reduce):
    """The same features with scikit-learn, and what it has for sparse rows."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    counts = CountVectorizer(analyzer="char", ngram_range=(GRAMS, GRAMS), lowercase=False)
    return make_pipeline(counts, Normalizer(), reduce)


def by_truncated_svd(k):
    from sklearn.decomposition import TruncatedSVD

    return of_counts(TruncatedSVD(k, random_state=0))


def by_pca(k):
    from sklearn.decomposition import PCA

    return of_counts(PCA(k, svd_solver="arpack", random_state=0))


class OfColumn:
    """An encoder of skrub: texts come as a column of a frame."""

    def __init__(self, name, k):
        import skrub

        self.encoder = getattr(skrub, name)(n_components=k)

    def fit(self, texts):
        import pandas as pd

        self.encoder.fit(pd.Series(texts, name="text"))
        return self

    def transform(self, texts):
        import pandas as pd

        return self.encoder.transform(pd.Series(texts, name="text")).to_numpy()


COMPONENTS = {
    "mercer": by_mercer,
    "CountVectorizer + TruncatedSVD": by_truncated_svd,
    "CountVectorizer + PCA": by_pca,
    "skrub StringEncoder": lambda k: OfColumn("StringEncoder", k),
    "skrub MinHashEncoder": lambda k: OfColumn("MinHashEncoder", k),
}


# ---------------------------------------------------------------------- the matrix: grams of up to three letters


def matrix_by_mercer(texts):
    from mercer.kernels import Spectrum

    return Spectrum(GRAMS, shortest=1).block(texts, texts)


def matrix_by_strkernels(texts):
    """It knows A, C, G and T, or capital letters and figures."""
    from strkernels import SpectrumStringKernel

    alphabet = 0 if set("".join(texts)) <= set("ACGT") else 2
    return SpectrumStringKernel(order=GRAMS, alphabet=alphabet)(np.array(texts), np.array(texts))


def matrix_of_counts(texts):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    return cosine_similarity(
        CountVectorizer(analyzer="char", ngram_range=(1, GRAMS), lowercase=False).fit_transform(texts)
    )


MATRICES = {
    "mercer": matrix_by_mercer,
    "strkernels": matrix_by_strkernels,
    "CountVectorizer and a product": matrix_of_counts,
}
