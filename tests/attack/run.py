"""Names of problems, and a trial by name: what is sent to other processes is a text."""

from math import ceil

from attack import batches, histograms, kernel, landmark, linear, local, precomputed  # noqa: F401 - they register
from attack.editions import attacking, exists
from attack.problems import FAMILIES, try_problem


def names_of(seed, only=None, share=1.0, edition="old"):
    """family:seed:number of every problem that is asked for, families taking turns."""
    known = {
        name: family
        for name, family in FAMILIES.items()
        if edition in family.editions and exists(family.model, edition)
    }
    chosen = [name.partition(":")[0] for name in only or known]
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise SystemExit(f"There is no family {unknown[0]!r}; there are {', '.join(sorted(known))}.")
    single = [name for name in only or () if ":" in name]
    whole = [FAMILIES[name] for name in only or known if ":" not in name]
    numbered = [(i / f.count, f"{f.name}:{seed}:{i}") for f in whole for i in range(ceil(f.count * share))]
    return single + [name for _, name in sorted(numbered)]


def trial(name, edition="old"):
    """The verdict on the problem of that name."""
    family, seed, number = name.split(":")
    with attacking(edition):
        problem = FAMILIES[family].problem(int(seed), int(number))
    return name, problem.words, try_problem(problem)
