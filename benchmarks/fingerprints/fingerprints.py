"""Kernel PCA of molecules' fingerprints: exact and by landmarks, beside RDKit's matrix and scikit-learn's solver.

    python -m benchmarks.fingerprints.fingerprints SYSTEM N    one system on N fingerprints, as JSON

Fingerprints are Morgan's (radius 2, 2048 bits) of the 4 991 molecules that come with RDKit. More of them are made of
these: every bit of one is that of one of two molecules, drawn for each fingerprint.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone, timed
from benchmarks.shared.suites import Study

COLUMNS = "| fingerprints | system | seconds | of processors | peak MB | all of K would take | components |"
BITS, RADIUS, K, REPEATS, PATIENCE = 2048, 2, 2, 3, 20.0  # seconds after which nothing is repeated
EXACT, MARKS, RDKIT = SYSTEMS = "mercer", "mercer, 1 000 landmarks", "RDKit + scikit-learn"
SIZES = {5_000: SYSTEMS, 20_000: SYSTEMS, 100_000: (EXACT, MARKS), 1_000_000: (MARKS,)}


def molecules():
    """Those that RDKit brings along."""
    import rdkit
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    lines = (Path(rdkit.__file__).parent / "Data" / "NCI" / "first_5K.smi").read_text().splitlines()
    read = [Chem.MolFromSmiles(text.split()[0]) for text in lines if text.strip()]
    return [molecule for molecule in read if molecule is not None]


def fingerprints(n):
    """n×2048 bits, sparse, a byte for each that is set."""
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    make, rng = GetMorganGenerator(radius=RADIUS, fpSize=BITS), np.random.default_rng(0)
    known = np.array([make.GetFingerprintAsNumPy(molecule) for molecule in molecules()], dtype=np.uint8)
    parts = [sparse.csr_array(known[:n])]
    for start in range(len(known), n, len(known)):
        one, other = rng.integers(len(known), size=(2, min(len(known), n - start)))
        parts.append(sparse.csr_array(np.where(rng.random((len(one), BITS)) < 0.5, known[one], known[other])))
    return sparse.vstack(parts, format="csr")


def by_mercer(n_landmarks=None):
    from mercer import KernelPCA
    from mercer.kernels import Tanimoto

    def fit(rows):
        limit = "900MB" if rows.shape[0] <= 100_000 else "2GB"
        model = KernelPCA(K, kernel=Tanimoto(), n_landmarks=n_landmarks, random_state=0, memory_limit=limit).fit(rows)
        return model, str(model.certificate_).splitlines()[0]

    return fit


def by_rdkit(rows):
    from rdkit.DataStructs import BulkTanimotoSimilarity, CreateFromBitString
    from sklearn.decomposition import KernelPCA

    prints = [CreateFromBitString("".join(map(str, row.tolist()))) for row in rows.toarray()]

    def fit(rows):
        matrix = np.empty((len(prints), len(prints)))
        for out, one in zip(matrix, prints, strict=True):
            out[:] = BulkTanimotoSimilarity(one, prints)
        model = KernelPCA(K, kernel="precomputed", eigen_solver="arpack", copy_X=False, random_state=0).fit(matrix)
        return model, ""

    return fit


def main(system, n):
    warnings.simplefilter("ignore")
    rows = fingerprints(int(n))
    fit = by_rdkit(rows) if system == RDKIT else by_mercer(1000 if system == MARKS else None)
    if system != RDKIT:
        fit(rows[:600])  # imports, thread pools
    times, busy, peak = [], [], 0
    for _ in range(REPEATS):
        start = time.process_time()
        (model, said), seconds, used = timed(fit, rows)
        times.append(seconds)
        busy.append(time.process_time() - start)
        peak = max(peak, used)
        if sum(times) > PATIENCE:
            break
    values = [float(value) for value in model.eigenvalues_]
    print(json.dumps({"times": times, "busy": busy, "peak": peak, "said": said, "values": values}))


def cells(n, system, result):
    if "failed" in result:
        return [f"{n:,}", system, f"failed: {result['failed'][:100]}"]
    all_of_it = f"{8 * n * n / 1e9:,.1f} GB"
    said = "; ".join([*(f"λ₁ = {value:.8g}" for value in result["values"][:1]), *filter(None, [result["said"]])])
    seconds = [f"{min(result[clock]):.3g}" for clock in ("times", "busy")]
    return [f"{n:,}", system, *seconds, f"{result['peak'] / 1e6:,.0f}", all_of_it, said]


def page(results):
    text = [
        "# Fingerprints",
        "",
        f"{written_by('fingerprints')} {K} components by Tanimoto's similarity of {BITS} bits, sparse, some 25 of them "
        f'set; `memory_limit="900MB"`, of a million "2GB". One process for each line, best of up to {REPEATS} runs. Up '
        "to 4 991 fingerprints are Morgan's of molecules that come with RDKit, the others are mixed of two of these. "
        "*Of processors*: seconds that all threads were busy; other work on the machine stretches the rest. "
        "*Peak*: "
        "memory beyond what was there before the fit. RDKit: `BulkTanimotoSimilarity` row by row into a matrix, "
        'scikit-learn\'s `KernelPCA(kernel="precomputed", eigen_solver="arpack")` of it.',
        "",
        machine(("rdkit",)),
        "",
        *head(COLUMNS),
        *(line(cells(n, system, result), COLUMNS) for (n, system), result in results.items()),
    ]
    return "\n".join(text) + "\n"


def write(scale):
    sizes = {max(600, round(n * scale)): systems for n, systems in SIZES.items()}
    results = {
        (n, system): run_alone("fingerprints.fingerprints", system, n, limit=1800)
        for n, systems in sizes.items()
        for system in systems
    }
    return page(results), {f"{n} {system}": result for (n, system), result in results.items()}


STUDY = Study(
    name="fingerprints",
    folder="fingerprints",
    question="What does kernel PCA of molecules' fingerprints take, up to a million?",
    minutes=15,
    write=write,
)

if __name__ == "__main__":
    main(*sys.argv[1:])
