"""All suites, in the order of the README."""

from benchmarks.cluster import cluster, scale
from benchmarks.every_model import model_files, plans, small_fits
from benchmarks.fingerprints import fingerprints
from benchmarks.kernel_pca import choosing_landmarks, warm_starts
from benchmarks.kernel_pca.suites import HELD, LANDMARKS, LARGE
from benchmarks.lle.suites import LLE
from benchmarks.pages import maps, playground
from benchmarks.pca import large_means
from benchmarks.pca.suites import PCA
from benchmarks.readings import compare, denoising, denoising_grid, gaps, novelty, tuning
from benchmarks.relatives import factor_analysis, gplvm
from benchmarks.shared.running import BENCHMARKS
from benchmarks.tables import famd
from benchmarks.texts import duplicates
from benchmarks.texts.suites import STRINGS

ALL = [
    PCA, large_means.STUDY, HELD, LARGE, LANDMARKS, choosing_landmarks.STUDY, warm_starts.STUDY, fingerprints.STUDY,
    LLE, STRINGS, duplicates.STUDY, famd.STUDY, denoising.STUDY, denoising_grid.STUDY, gaps.STUDY,
    novelty.STUDY, tuning.STUDY, compare.STUDY, factor_analysis.STUDY, gplvm.STUDY,
    cluster.STUDY, scale.STUDY, maps.STUDY, playground.STUDY, plans.SUITE, small_fits.STUDY, model_files.STUDY,
]  # fmt: skip
SUITES = {suite.name: suite for suite in ALL}


def table():
    """Question, command, page and minutes of every suite, as the README has it."""
    lines = ["| question | command | page | minutes |", "|---|---|---|---|"]
    for suite in ALL:
        page = suite.path.relative_to(BENCHMARKS)
        lines.append(f"| {suite.question} | `make bench SUITE={suite.name}` | [{page}]({page}) | {suite.minutes} |")
    return "\n".join(lines)
