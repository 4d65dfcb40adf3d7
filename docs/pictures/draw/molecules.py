"""The map of molecules of the guide to fingerprints: 4 991 of them, and two that are none of these. Needs RDKit."""

import numpy as np

from mercer import KernelPCA
from mercer.kernels import Tanimoto
from mercer_old import look

NEW = {"aspirin": "CC(=O)Oc1ccccc1C(=O)O", "cholesterol": "CC(C)CCCC(C)C1CCC2C1(CCC3C2CC=C4C3(CCC(C4)O)C)C"}


def draw():
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.Chem.rdMolDescriptors import CalcFractionCSP3

    from benchmarks.fingerprints.fingerprints import BITS, RADIUS, molecules

    known, make = molecules(), GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    bits = np.array([make.GetFingerprintAsNumPy(molecule) for molecule in known])
    model = KernelPCA(2, kernel=Tanimoto(), random_state=0).fit(bits)
    places, saturated = model.transform(bits), [CalcFractionCSP3(molecule) for molecule in known]
    new = model.transform(np.array([make.GetFingerprintAsNumPy(MolFromSmiles(text)) for text in NEW.values()]))
    figure, ax = look.panels(1, 1, width=6.5, height=4.2)
    drawn = ax.scatter(*places.T, c=saturated, s=4, cmap="viridis", linewidths=0)
    figure.colorbar(drawn, ax=ax, label="share of saturated carbon")
    for name, place in zip(NEW, new, strict=True):
        ax.plot(*place, "o", color=look.RED, markersize=6)
        ax.annotate(f" {name}", place, color=look.RED, fontsize=9)
    ax.set(xlabel="first component", ylabel="second component")
    return figure


PICTURES = {"molecules": lambda: look.as_png(draw)}
