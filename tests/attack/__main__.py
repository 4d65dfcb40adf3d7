"""`make attack`: all problems of a seed by two processes, and a table; exit code 1 if a statement is violated.

ARGS="--only pca_sparse" runs a family, "--only pca_sparse:0:17" one problem; "--problems 0.1" a tenth of each family;
"--edition new" attacks the estimators of the second edition.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is there: small matrices, and two processes


def main(arguments=None):
    from attack.run import FAMILIES, names_of, trial
    from attack.tally import Tally

    options = parsed(arguments, sorted(FAMILIES))
    names = names_of(options.seed, options.only, options.problems, options.edition)
    tally, start = Tally(), time.perf_counter()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done, (name, words, verdict) in enumerate(
            pool.map(partial(trial, edition=options.edition), names, chunksize=4), 1
        ):
            tally.add(name.partition(":")[0], name, words, verdict)
            if done % 100 == 0:
                print(f"{done:,} of {len(names):,}, {tally.failures} violated", file=sys.stderr)
            if len(names) == 1:
                print(words, verdict.refused and f"refused: {verdict.refused}", sep="\n")
    print(tally)
    print(f"{options.edition} edition, seed {options.seed}, {time.perf_counter() - start:.0f} s")
    return 1 if tally.failures else 0


def parsed(arguments, families):
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help=f"a family, or one problem as family:seed:number. {families}")
    parser.add_argument("--problems", type=float, default=1.0, help="share of each family's problems, or more than 1")
    parser.add_argument("--edition", choices=("old", "new"), default="old")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
