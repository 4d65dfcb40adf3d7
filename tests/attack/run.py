"""Names of problems, and a trial by name: what is sent to other processes is a text."""

from math import ceil

from attack import batches, histograms, kernel, landmark, linear, local, precomputed  # noqa: F401 - they register
from attack.problems import FAMILIES, try_problem


def names_of(seed, only=None, share=1.0):
    """family:seed:number of every problem that is asked for, families taking turns."""
    chosen = [name.partition(":")[0] for name in only or FAMILIES]
    unknown = [name for name in chosen if name not in FAMILIES]
    if unknown:
        raise SystemExit(f"There is no family {unknown[0]!r}; there are {', '.join(sorted(FAMILIES))}.")
    single = [name for name in only or () if ":" in name]
    whole = [FAMILIES[name] for name in only or FAMILIES if ":" not in name]
    numbered = [(i / f.count, f"{f.name}:{seed}:{i}") for f in whole for i in range(ceil(f.count * share))]
    return single + [name for _, name in sorted(numbered)]


def trial(name):
    """The verdict on the problem of that name."""
    family, seed, number = name.split(":")
    problem = FAMILIES[family].problem(int(seed), int(number))
    return name, problem.words, try_problem(problem)
