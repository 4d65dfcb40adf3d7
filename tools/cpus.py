"""Run the numerical tests as other processors would compute them: their kernels of OpenBLAS, numpy without its widest
instructions, one and two threads. Sums are ordered and rounded otherwise on each, and every proof has to hold on all.

make test-cpus                          every configuration that this processor can run, one after the other
make test-cpus ARGS="--at-once 2"       two at a time
make test-cpus ARGS="--only Nehalem"    those whose name has this word
make test-cpus ARGS="-- -k certificate" options of pytest after --

Both libraries read these settings when they are loaded, so every configuration is a process of its own.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# The numerical tests, in one place: whatever claims something about a rounded number.
TESTS = [
    "theory",
    "numerics",
    "kernels",
    "linalg",
    "certificates",
    "estimators",
    "analysis",
    "comparison",
    "compat/test_private_names.py",
    "compat/test_estimator_checks.py",
    "attack",
]
# Of those, what certificates claim against what is true: for `make test`, in a few seconds.
CERTIFICATES = [
    "certificates",
    "estimators/test_exact_kernel_pca_extremes.py",
    "estimators/test_landmark_intervals.py",
    "estimators/test_pca_accuracy.py",
    "kernels/test_vector_kernel_rounding.py",
    "linalg/test_gram_errors.py",
]

CORETYPES = ("SkylakeX", "Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott")
FAR_APART = ("Nehalem", "Haswell", "SkylakeX")  # 128, 256 and 512 bits wide
# What numpy calls them from 2.4 on, and before.
WIDE = {
    "X86_V4": ("X86_V4", "AVX512"),
    "X86_V3": ("X86_V4", "AVX512", "X86_V3", "AVX2", "FMA3"),
}

# What a child says of itself; the products show whether the processor has the instructions.
ASK = """
import json, numpy, scipy.linalg, threadpoolctl
for dtype in ("f4", "f8"):
    A = numpy.cos(numpy.arange(90_000.0)).reshape(300, 300).astype(dtype)
    scipy.linalg.eigh(A @ A.T); numpy.linalg.svd(A); A @ A[0]
print(json.dumps({
    "kernels": sorted({pool.get("architecture") or "?" for pool in threadpoolctl.threadpool_info()
                       if pool["internal_api"] == "openblas"}),
    "found": numpy.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []),
}))
"""


@dataclass(frozen=True, eq=False)
class Configuration:
    """A name, and what the environment says."""

    name: str
    settings: dict[str, str]
    threads: int

    def environment(self) -> dict[str, str]:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(self.threads))
        return os.environ | threads | self.settings

    def __str__(self) -> str:
        return f"{self.name}, {self.threads} thread{'s' * (self.threads > 1)}"


@dataclass(frozen=True)
class Outcome:
    """What became of the tests in one configuration."""

    passed: int
    failures: list[str]
    seconds: float
    ended: int  # the exit code
    tail: str = ""  # of what was printed, where that went wrong otherwise

    @property
    def good(self) -> bool:
        return self.ended == 0 and self.passed > 0


# ---------------------------------------------------------------------- which there are


def configurations() -> tuple[list[Configuration], list[str]]:
    """All that this processor and these libraries can run, and why others are left out."""
    kernels, said = coretypes()
    levels, more = numpy_levels()
    found = [Configuration(name, settings, threads) for name, settings in kernels.items() for threads in (1, 2)]
    return [*found, *(Configuration(name, settings, 1) for name, settings in levels.items())], [*said, *more]


def coretypes(names: tuple[str, ...] = CORETYPES) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The kernels of OpenBLAS: those of this processor first, then others, each once.

    A name that OpenBLAS does not know is taken for this processor's own, so is one it replaces; some are reported by
    the name of others (Zen has Haswell's), or by a name that nobody gave (Prescott's), but then not by this one's.
    """
    kernels = (ask_as_it_is() or {"kernels": []})["kernels"]
    if not kernels:
        return {"as it is": {}}, ["BLAS is not OpenBLAS here: its kernels cannot be chosen."]
    taken, said = {tuple(kernels): f"{'/'.join(kernels)} (this processor)"}, []
    found: dict[str, dict[str, str]] = {taken[tuple(kernels)]: {}}
    for name in names:
        answer = ask({"OPENBLAS_CORETYPE": name})
        if answer is None:
            said.append(f"{name}: this processor cannot run it.")
        elif (known := tuple(answer["kernels"])) in taken:
            if known != (name,):
                said.append(f"{name}: OpenBLAS takes {taken[known]} for it.")
        else:
            taken[known], found[name] = name, {"OPENBLAS_CORETYPE": name}
    return found, said


def numpy_levels(names: tuple[str, ...] = tuple(WIDE)) -> tuple[dict[str, dict[str, str]], list[str]]:
    """numpy without its widest instructions, where it has them and lets them go."""
    found: dict[str, dict[str, str]] = {}
    said, there = [], set((ask_as_it_is() or {"found": []})["found"])
    for level in names:
        off = {name for name in there if name.startswith(WIDE[level])}
        settings = {"NPY_DISABLE_CPU_FEATURES": " ".join(sorted(off))}
        if not off:
            said.append(f"numpy without {level}: it uses none of that here.")
        elif (left := ask(settings)) is None or off & set(left["found"]):
            said.append(f"numpy without {level}: it does not let go of {', '.join(sorted(off))}.")
        else:
            found[f"numpy without {level}"] = settings
    return found, said


def ask(settings: dict[str, str]) -> Any:
    """What a child with these settings computes with; None if it dies."""
    child = Configuration("", settings, 1)
    done = subprocess.run([sys.executable, "-c", ASK], env=child.environment(), capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


@cache
def ask_as_it_is() -> Any:
    return ask({})


def a_few() -> list[Configuration]:
    """For `make test`: two kinds of kernels that are not this processor's, on one thread each.

    Each is a process that imports everything, so the last of them has numpy's plainest instructions as well.
    """
    kernels = list(coretypes(FAR_APART)[0].items())[1:3]
    levels = list(numpy_levels(("X86_V3",))[0].items())
    if kernels and levels:
        (name, settings), (level, fewer) = kernels.pop(), levels.pop()
        levels = [(f"{name}, {level}", settings | fewer)]
    return [Configuration(name, settings, 1) for name, settings in [*kernels, *levels]]


# ---------------------------------------------------------------------- running


def run_tests(one: Configuration, options: list[str]) -> Outcome:
    """The tests in a process with these settings."""
    folders = [ROOT / "tests" / name for name in TESTS]
    return run_pytest(one, [*(str(folder) for folder in folders if folder.exists()), *options])


def run_certificates(one: Configuration) -> Outcome:
    """The short form."""
    return run_pytest(one, [str(ROOT / "tests" / name) for name in CERTIFICATES])


def run_pytest(one: Configuration, arguments: list[str]) -> Outcome:
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-rfE", "--tb=short", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=one.environment(), capture_output=True, text=True)
    passed = re.search(r"(\d+) passed", done.stdout)
    failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    tail = "" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-1000:]
    seconds = time.perf_counter() - began
    return Outcome(int(passed.group(1)) if passed else 0, failures, seconds, done.returncode, tail)


def table(outcomes: dict[Configuration, Outcome]) -> str:
    """One line for each, and the names of what failed."""
    wide = max(len(str(one)) for one in outcomes)
    lines = [f"{'configuration':{wide}}  passed  failed  seconds"]
    for one, outcome in outcomes.items():
        lines.append(f"{one!s:{wide}}  {outcome.passed:6}  {len(outcome.failures):6}  {outcome.seconds:7.0f}")
        lines += [f"    {name}" for name in outcome.failures]
        if not outcome.good and not outcome.failures:
            lines.append(f"    ended with {outcome.ended}: {outcome.tail.strip()[-300:]}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="configurations whose name has this word")
    parser.add_argument("--threads", type=int, choices=(1, 2), help="those with so many threads")
    parser.add_argument("--at-once", type=int, default=1, help="how many run at a time")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("options", nargs="*", help="for pytest, after --")
    chosen = parser.parse_args()
    every, said = configurations()
    print(*said, sep="\n", end="\n" * bool(said))
    some = [one for one in every if chosen.only.lower() in str(one).lower() and chosen.threads in (None, one.threads)]
    if not some:
        print(f"No configuration has {chosen.only!r} in its name; there are: {'; '.join(map(str, every))}.")
        return 2
    if chosen.list:
        print(*some, sep="\n")
        return 0

    def work(one: Configuration) -> Outcome:
        outcome = run_tests(one, chosen.options)
        print(f"{one}: {outcome.passed} passed, {len(outcome.failures)} failed", flush=True)
        return outcome

    with ThreadPoolExecutor(chosen.at_once) as pool:
        outcomes = dict(zip(some, pool.map(work, some), strict=True))
    print(table(outcomes))
    return 0 if all(outcome.good for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
