"""`make bench SUITE=pca`: one of the suites, or what they are.

    python -m benchmarks [SUITE] [--only TEXT] [--scale 0.01] [--to FOLDER]

Without a suite: a table of all. --only runs the cases whose name contains the text anew, and leaves the others as they
were. --scale shrinks rows to try things out; figures and page go to a temporary folder then, as they do with --only
where no figures of the others are kept. Times on a shared machine
are unstable: compare ratios within a case, not seconds between runs. The suite `ledger` has options of its own:
python -m benchmarks ledger --help.
"""

import argparse
import sys
from pathlib import Path
from tempfile import mkdtemp


def main():
    if sys.argv[1:2] == ["ledger"]:
        from benchmarks.ledger.run import main as run_ledger

        sys.exit(run_ledger(sys.argv[2:]))
    from benchmarks.index import SUITES, table

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=SUITES)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--to", type=Path, help="another folder than that of the page")
    asked = parser.parse_args()
    if asked.suite is None:
        print(table())
        return
    suite = SUITES[asked.suite]
    whole = asked.scale == 1 and (not asked.only or suite.path.with_suffix(".json").exists())
    folder = asked.to or (suite.path.parent if whole else Path(mkdtemp()))
    print(suite.run(folder, asked.only, asked.scale))


if __name__ == "__main__":
    main()
