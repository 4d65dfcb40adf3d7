"""The pictures of the guide to plots: penguins and digits, in a few displays."""

import io

from palmerpenguins import load_penguins
from PIL import Image
from sklearn.datasets import load_digits

from mercer import PCA, KernelPCA
from mercer_old.displays.canvas import as_bytes

MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def penguins():
    frame = load_penguins().dropna(subset=MEASURES)
    return frame[MEASURES], frame


def compact(display):
    """In 128 colours, which is enough for a page."""
    picture = Image.open(io.BytesIO(as_bytes(display.figure_, "png", 100))).convert("RGB")
    out = io.BytesIO()
    picture.quantize(128, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return out.getvalue()


def scree():
    digits = load_digits()
    return compact(PCA(30).fit(digits.data).plot(digits.data, kind="scree"))


def scores():
    X, frame = penguins()
    display = PCA(standardize=True).fit(X).plot(X, frame["species"], ellipse="concentration", marginals=True)
    return compact(display)


def biplot():
    X, frame = penguins()
    return compact(PCA(standardize=True).fit(X).plot(X, frame["species"], kind="biplot", theme="dark"))


def kernel_biplot():
    X, frame = penguins()
    model = KernelPCA(4, kernel="rbf", gamma="median", standardize=True).fit(X)
    return compact(model.plot(X, frame["species"], kind="biplot"))


def metadata():
    X, frame = penguins()
    beside = frame[["species", "island", "sex", "year"]]
    return compact(PCA(standardize=True).fit(X).plot(X, beside, kind="metadata"))


def preimages():
    digits = load_digits()
    model = KernelPCA(8, kernel="rbf", gamma="median").fit(digits.data[:600])
    return compact(model.plot(kind="preimage", side=9, size=(5.2, 5.2)))


PICTURES = {
    "plots_scree": scree,
    "plots_scores": scores,
    "plots_biplot": biplot,
    "plots_kernel_biplot": kernel_biplot,
    "plots_metadata": metadata,
    "plots_preimages": preimages,
}
