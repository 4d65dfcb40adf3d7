"""`make bench SUITE=ledger`: measure the fixed cases, add rows to ledger.csv, and show what became slower.

    python -m benchmarks ledger [--edition old|new|both] [--only TEXT] [--full] [--list] [--no-record]

The exit status is 1 if a case is more than 15% slower than the last committed row of the same edition (or cannot be
measured any more), and 0 otherwise. Such a case is measured a second time, and the better ratio counts.
"""

import argparse
import os
from datetime import date

from benchmarks.ledger.cases import CASES
from benchmarks.ledger.measure import Edition, machine_child, run_child
from benchmarks.ledger.record import LEDGER, Row, append, commit, committed, compare, is_known

QUIET = 1.5  # load above which times on the wall clock are neither compared nor recorded; the run itself makes 1 of it


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks ledger", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edition", choices=[*Edition.HOMES, "both"], default="both")
    parser.add_argument("--only", default="", help="names of cases, or parts of names, separated by commas")
    parser.add_argument("--full", action="store_true", help="the large cases in full size (some minutes each)")
    parser.add_argument("--list", action="store_true", help="show the cases and what they are measured against")
    parser.add_argument("--no-record", action="store_true", help="add nothing to the file")
    given = parser.parse_args(arguments)
    texts = given.only.split(",")
    chosen = [case for name, case in CASES.items() if name in texts or any(t in name for t in texts if t not in CASES)]
    if given.list:
        for case in chosen:
            print(f"{case.name:<22} {case.clock:<5} {case.against}")
        return 0
    editions = list(Edition.HOMES) if given.edition == "both" else [given.edition]
    return run(chosen, editions, given.full, record=not given.no_record)


def run(cases, editions, full, record):
    """Measure, print and record the cases; the exit status."""
    rows, shared = committed(), machine_child() | {"date": date.today().isoformat(), "commit": commit()}
    print(f"{shared['machine']}, {shared['gflops']:.0f} GF/s, {shared['versions']}; commit {shared['commit']}")
    slower, lost = [], []
    for case in cases:
        for edition in editions:
            name = case.name + ("-full" if full and case.sized else "")
            row = measured(case, name, edition, full, shared, rows, lost)
            if row is None:
                continue
            comparison = compare(row, rows)
            if is_disturbed(row):
                print(f"{comparison}; load {row.load:.1f}: not recorded, repeat when idle", flush=True)
                continue
            print(comparison, flush=True)
            if comparison.counts:
                slower.append(comparison)
            if record:
                append(row)
    if record:
        print(f"Rows are in {LEDGER}.")
    for comparison in slower:
        print(f"SLOWER: {comparison}")
    for text in lost:
        print(f"LOST: {text}")
    return 1 if slower or lost else 0


def measured(case, name, edition, full, shared, rows, lost):
    """The row of a case, or None if it cannot be measured; `lost` gets a line if it could be before."""
    best = None
    for _ in range(2):
        load = os.getloadavg()[0]
        figures = run_child(case, edition, full)
        problem = next((f"{word}: {figures[word]}" for word in ("skipped", "failed") if word in figures), None)
        if problem is not None:
            print(f"{name:<22} {edition:<4} {problem}", flush=True)
            if is_known(edition, name, rows):
                lost.append(f"{name} {edition} {problem}")
            return None
        yardstick = figures.pop("yardstick")
        row = Row(
            edition=edition, case=name, yardstick_seconds=yardstick, clock=case.clock, load=load,
            **figures, **shared,
        )  # fmt: skip
        best = row if best is None or row.ratio < best.ratio else best
        if is_disturbed(best) or not compare(best, rows).counts:
            break
    return best


def is_disturbed(row):
    """Whether other processes make a time on the wall clock useless."""
    return row.clock == "wall" and row.load > QUIET
