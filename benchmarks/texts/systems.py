"""Texts: the systems that are measured, each imported when it is needed so that none has another's memory."""

from itertools import combinations

import numpy as np

GRAMS = 3  # letters, of grams and of subsequences
DECAY = 1.0  # what a gap costs: nothing, so that counts are the features of subsequences too


def by_mercer(k, of):
    from mercer import KernelPCA
    from mercer.kernels import Spectrum, Subsequence

    kernel = Spectrum(GRAMS) if of == "grams" else Subsequence(GRAMS, decay=DECAY)
    return KernelPCA(k, kernel=kernel, random_state=0)


def subsequences(text):
    return ["".join(letters) for letters in combinations(text, GRAMS)]


def of_counts(reduce, of):
    """The same features with scikit-learn, and what it has for sparse rows."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    analyzer = "char" if of == "grams" else subsequences
    counts = CountVectorizer(analyzer=analyzer, ngram_range=(GRAMS, GRAMS), lowercase=False)
    return make_pipeline(counts, Normalizer(), reduce)


def by_truncated_svd(k, of):
    from sklearn.decomposition import TruncatedSVD

    return of_counts(TruncatedSVD(k, random_state=0), of)


def by_pca(k, of):
    from sklearn.decomposition import PCA

    return of_counts(PCA(k, svd_solver="arpack", random_state=0), of)


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
    "skrub StringEncoder": lambda k, of: OfColumn("StringEncoder", k),
    "skrub MinHashEncoder": lambda k, of: OfColumn("MinHashEncoder", k),
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


# ---------------------------------------------------------------------- the matrix: subsequences of up to three letters


def subsequence_matrix_by_mercer(texts):
    from mercer.kernels import Subsequence

    return Subsequence(GRAMS, decay=0.5, up_to=True).block(texts, texts)


def subsequence_matrix_by_strkernels(texts):
    from strkernels import SubsequenceStringKernel

    return SubsequenceStringKernel(maxlen=GRAMS, ssk_lambda=0.5)(np.array(texts), np.array(texts))


MATRICES = {
    "grams": {
        "mercer": matrix_by_mercer,
        "strkernels": matrix_by_strkernels,
        "CountVectorizer and a product": matrix_of_counts,
    },
    "subsequences": {"mercer": subsequence_matrix_by_mercer, "strkernels": subsequence_matrix_by_strkernels},
}
