"""Texts beside scikit-learn's counts, skrub and strkernels; `make bench SUITE=strings` installs the peers."""

from benchmarks.shared.pages import than_ours
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Suite
from benchmarks.texts.cases import CASES, READ
from benchmarks.texts.systems import GRAMS

MEANING = (
    f"*Words*: `fit` with 10 components on grams of {GRAMS} letters, then `transform` of the same words, from a list. "
    "*The matrix*: the kernel between all texts, of grams of one to three letters, as strkernels has it. "
    "*of processors*: the time that they worked on it, all threads together. Where that is far less than the seconds, "
    "the machine had other work to do. A system is given up after 200 seconds, with subsequences after 600. "
    "*than ours*: that time against the first line of the case. "
    f"*Subsequences*: {GRAMS} letters in their order with any gaps between them, which cost nothing, so that "
    "scikit-learn can count them as well, by a function of ours; in their matrix gaps count, and it is of one to three "
    "letters. "
    "*memory*: peak beyond the texts, the answer included. *captured*: share of the variance of the kernel's features "
    "that the span of the scores holds; 10 components cannot hold more than ours do. *residual*: worst ‖Au − θu‖/θ, A "
    "the centred kernel matrix, u a column of the scores at unit length, θ = uᵀAu; both from features that "
    "scikit-learn counted. *error*: of the matrix, against the definition, on 60 texts.\n\n"
    "The data: English words of wordfreq's large list at random; beyond its 320 000, words with a letter put in, left "
    f"out or changed. Reads are {READ} random letters A, C, G and T.\n\n"
    "CountVectorizer counts the same grams, and a Normalizer divides them the same way. TruncatedSVD does not centre; "
    "PCA (arpack) does, and is the same problem as ours. skrub's encoders have features of their own: TF-IDF of grams "
    "of 3 and 4 letters, and minima of hashes. strkernels numbers all grams there can be anew for every pair of texts, "
    "of the letters A, C, G and T or of capitals and figures, so that it is given 100 words, and no components. A peer "
    "that is not installed or fails says so in its line."
)


def measure(case, number, scale):
    about = {"n": case.n, "k": case.k}
    return {
        system: run_alone("texts.measure", number, scale, system, limit=case.limit) | about for system in case.systems
    }


def cells(case, system, result, ours):
    best, worked, memory = min(result["times"]), min(result["worked"]), f"{result['peak'] / 1e6:.0f} MB"
    captured = f"{result['captured']:.3%}" if "captured" in result else ""
    worst = [f"{result[name]:.0e}" if name in result else "" for name in ("residual", "error")]
    than = "" if system == case.systems[0] or "failed" in ours else than_ours(worked / min(ours["worked"]))
    return f"{best:.3g}", f"{worked:.3g}", than, memory, captured, *worst


STRINGS = Suite(
    name="strings",
    folder="texts",
    question="How fast, frugal and right is kernel PCA of texts, up to a million, and the kernel matrix alone?",
    minutes=25,
    title="Benchmarks: texts",
    cases=CASES,
    measure=measure,
    columns="| case | system | seconds | of processors | than ours | memory | captured | residual | error |",
    cells=cells,
    meaning=lambda results: MEANING,
    peers=("strkernels", "skrub", "wordfreq"),
)
