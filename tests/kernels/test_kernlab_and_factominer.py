"""Kernels and models against numbers that the R packages kernlab 0.9.32 and FactoMineR 2.7 print for public data."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mercer.datasets import us_arrests
from mercer.estimators import PCA, KernelPCA
from mercer.kernels.distance import RBF, Matern
from mercer.kernels.dot import Polynomial
from mercer.kernels.strings import Spectrum, Subsequence
from mercer.kernels.tables import Categorical, Numeric, TableKernel

IRIS = load_iris()
WORDS = ["banana", "bandana", "cabana", "ananas", "nab", "panama canal"]


def upper_triangle(*values):
    found = np.zeros((6, 6))
    found[np.triu_indices(6)] = values
    return found + np.triu(found, 1).T


# ---------------------------------------------------------------------- kernlab: kpca(iris[, 1:4], kernel)


KPCA = {
    "rbfdot(sigma=0.2)": (
        RBF(0.2),
        [48.7256599453, 17.8591299359, 5.3171040365, 3.72334111146],
        [[10.0979791656, 0.692997265934, 1.12969329654], [9.80577882575, 0.44422871837, 0.00816467174851]],
    ),
    "laplacedot(sigma=0.5)": (
        Matern(0.5, 2.0),
        [33.1158816465, 12.2318249157, 5.06224682877, 4.07754734104],
        [[8.7216230252, 0.8440275226, 1.14378339078], [8.21606160603, 0.562900563649, 0.0515519503782]],
    ),
    "polydot(degree=3, scale=0.1, offset=1)": (
        Polynomial(3, 0.1, 1.0),
        [18268.6220595, 577.667107401, 262.416625308, 86.7838922],
        [[150.542070975, 17.6153587395, 0.33116948318], [158.02680014, 3.84745750145, 5.14644539183]],
    ),
}


@pytest.mark.parametrize(("kernel", "eigenvalues", "rotated"), KPCA.values(), ids=KPCA)
@pytest.mark.parametrize("eigen_solver", ["auto", "krylov"])
def test_kernel_pca_of_the_irises(kernel, eigenvalues, rotated, eigen_solver):
    model = KernelPCA(4, kernel=kernel, eigen_solver=eigen_solver)
    scores = model.fit_transform(IRIS.data)
    assert_allclose(model.eigenvalues_, eigenvalues, rtol=1e-9)  # eig(), times the number of rows
    assert_allclose(np.abs(scores[:2, :3]) * np.sqrt(150), rotated, rtol=1e-7)


# ---------------------------------------------------------------------- kernlab: kernelMatrix(stringdot(...), words)


def test_spectrum_of_words():
    """Kernlab's strings end with a mark that counts as a letter."""
    marked = [word + "$" for word in WORDS]
    # type="spectrum", length=3, normalized=FALSE
    expected = upper_triangle(7, 4, 4, 5, 0, 4, 6, 3, 2, 0, 2, 5, 2, 0, 2, 7, 0, 4, 2, 0, 13)
    assert_allclose(Spectrum(3, normalize=False)(marked, marked), expected)
    cosines = expected / np.sqrt(np.multiply.outer(expected.diagonal(), expected.diagonal()))
    assert_allclose(cosines[0, 1], 0.617213399848, rtol=1e-11)  # normalized=TRUE
    assert_allclose(Spectrum(3)(marked, marked), cosines, rtol=1e-14)
    # type="boundrange", length=3: all lengths up to 3
    expected = upper_triangle(
        32, 27, 23, 27, 9, 32, 31, 21, 22, 8, 28, 24, 18, 8, 26, 32, 8, 32, 9, 10, 64
    )  # fmt: skip
    assert_allclose(Spectrum(3, 1, normalize=False)(marked, marked), expected)


def test_subsequences_of_words():
    # type="sequence", length=2, lambda=0.5, normalized=FALSE
    first = [0.859619140625, 0.709106445312, 0.517578125, 0.7275390625, 0.140625, 0.769805908203]
    last = [*first[-1:], 0.623489379883, 0.561676025391, 0.769805908203, 0.14306640625, 1.68305927515]
    found = Subsequence(2, 0.5, normalize=False)(WORDS, WORDS)
    assert_allclose(found[[0, -1]], [first, last], rtol=1e-11)
    # length=3, normalized=TRUE
    first = [1, 0.698538156853, 0.607125557178, 0.707446808511, 0, 0.394760410441]
    assert_allclose(Subsequence(3, 0.5)(WORDS, WORDS)[0], first, rtol=1e-11)


# ---------------------------------------------------------------------- FactoMineR


def test_famd_of_the_irises():
    table = pd.DataFrame(IRIS.data, columns=list("abcd")).assign(species=IRIS.target_names[IRIS.target])
    columns = {**dict.fromkeys("abcd", Numeric()), "species": Categorical()}
    model = KernelPCA(4, kernel=TableKernel(columns, balanced=False))
    scores = model.fit_transform(table)
    eigenvalues = [3.87015852923, 1.34222429617, 0.591708820936, 0.154229384264]
    assert_allclose(model.eigenvalues_ / 150, eigenvalues, rtol=1e-10)  # FAMD(iris)$eig
    coordinates = [[2.6439066746, 0.603966459227, 0.0625243619037], [2.46708230055, 0.160854797641, 0.760712210511]]
    assert_allclose(np.abs(scores[:2, :3]), coordinates, rtol=1e-9)  # $ind$coord


def test_correspondence_analysis_of_hair_and_eyes():
    counts = {  # HairEyeColor: hair Black, Brown, Red, Blond for each eye color
        "Male": {"Brown": (32, 53, 10, 3), "Blue": (11, 50, 10, 30), "Hazel": (10, 25, 7, 5), "Green": (3, 15, 7, 8)},
        "Female": {"Brown": (36, 66, 16, 4), "Blue": (9, 34, 7, 64), "Hazel": (5, 29, 7, 5), "Green": (2, 14, 7, 8)},
    }
    hair = ("Black", "Brown", "Red", "Blond")
    cells = [(h, eye, sex) for sex, eyes in counts.items() for eye in eyes for h in hair]
    students = [n for eyes in counts.values() for row in eyes.values() for n in row]
    table = pd.DataFrame(np.repeat(cells, students, axis=0), columns=["hair", "eye", "sex"])
    kernel = TableKernel(dict.fromkeys(table.columns, Categorical()), balanced=False)
    model = KernelPCA(7, kernel=kernel).fit(table)
    eigenvalues = [0.489081410115, 0.386092339186, 0.353005562922, 0.332045735934, 0.316202478888, 0.282131557879]
    assert len(table) == 592
    assert_allclose(model.eigenvalues_ / 592 / 3, [*eigenvalues, 0.17477424841], rtol=1e-10)  # MCA(...)$eig
    cells = pd.DataFrame(cells, columns=table.columns)
    weighted = KernelPCA(7, kernel=kernel).fit(cells, sample_weight=students)
    assert_allclose(weighted.eigenvalues_, model.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "full", "krylov"])
def test_weighted_pca_of_the_us_arrests(solver):
    X, _ = us_arrests()
    weights = np.arange(1.0, 51.0)  # PCA(USArrests, row.w=1:50)
    model = PCA(svd_solver=solver, standardize=True)
    scores = model.fit_transform(X, sample_weight=weights)
    assert_allclose(
        model.explained_variance_, [2.54160807175, 0.985306568947, 0.332922100384, 0.140163258922], rtol=1e-10
    )
    assert_allclose(model.mean_, [7.26470588235, 156.415686275, 64.1623529412, 19.6308235294], rtol=1e-11)
    of_population = np.sqrt(1275 / 1274)  # FactoMineR divides by the sum of the weights
    assert_allclose(
        model.scale_, np.array([4.23954971385, 78.4836972519, 14.8523555388, 8.30834206983]) * of_population
    )
    coordinates = [[1.31348129322, 1.14797852833], [2.41048220836, 0.91969963716]]
    assert_allclose(np.abs(scores[:2, :2]) * of_population, coordinates, rtol=1e-10)
