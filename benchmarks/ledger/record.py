"""The file of the ledger: one row for each commit, edition and case, and what became slower."""

import csv
import subprocess
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEDGER = Path(__file__).parent / "ledger.csv"
SLOWER = 1.15  # times the ratio of the last committed row
SAME_SPEED = 1.25  # machines whose speeds differ by more than this factor are different ones


@dataclass(frozen=True)
class Row:
    """One line of the file."""

    date: str
    commit: str  # with a + if the sources differ from it
    edition: str
    case: str
    ratio: float  # seconds / yardstick_seconds
    seconds: float
    yardstick_seconds: float
    clock: str
    runs: int
    load: float  # average load of the machine before the case
    machine: str
    gflops: float  # float64 product on one core
    versions: str
    note: str


def parse(text):
    """The rows of a file's text."""
    kinds = {field.name: field.type for field in fields(Row)}
    return [Row(**{name: kinds[name](line[name]) for name in kinds}) for line in csv.DictReader(StringIO(text))]


def append(row, path=LEDGER):
    """Add a line to the file; figures have four digits."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        cells = asdict(row)
        writer.writerow({name: f"{cell:.4g}" if isinstance(cell, float) else cell for name, cell in cells.items()})


def committed(path=LEDGER):
    """The rows of the last commit, so that a second run is not compared with the first one; without git, the rows of
    the file."""
    try:
        command = ["git", "show", f"HEAD:./{path.name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=path.parent)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return parse(path.read_text(encoding="utf-8")) if path.exists() else []
    return parse(done.stdout)


def commit():
    """The short name of the commit, with a + if the sources differ from it."""

    def git(*command):
        return subprocess.run(["git", *command], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()

    try:
        return git("rev-parse", "--short=7", "HEAD") + ("+" if git("status", "--porcelain", "src") else "")
    except (FileNotFoundError, subprocess.CalledProcessError):
        return "unknown"


@dataclass(frozen=True)
class Comparison:
    """A row and the last committed row of the same edition and case, if there is one."""

    row: Row
    last: Row | None
    best: Row | None

    @property
    def change(self):
        return self.row.ratio / self.last.ratio if self.last else 1.0

    @property
    def same_machine(self):
        """Whether the two rows may be compared at all: ratios depend on caches and BLAS kernels, too."""
        if self.last is None or self.row.machine != self.last.machine:
            return False
        return 1 / SAME_SPEED <= self.row.gflops / self.last.gflops <= SAME_SPEED

    @property
    def is_slower(self):
        return self.change > SLOWER

    @property
    def counts(self):
        """Whether it is a reason to fail."""
        return self.is_slower and self.same_machine

    def __str__(self):
        row = self.row
        cells = f"{row.case:<22} {row.edition:<4} {row.ratio:>8.3g}  {_time(row.seconds):>8}"
        if self.last is None:
            return f"{cells}  first row  {row.note}".rstrip()
        last = f"{self.change - 1:+.0%} against {self.last.ratio:.3g} ({self.last.commit})"
        if self.best is not None and self.best.ratio < self.last.ratio:
            last += f", best {self.best.ratio:.3g} ({self.best.commit})"
        mark = "  SLOWER" if self.is_slower else ""
        other = "" if self.same_machine else " on another machine"
        return f"{cells}  {last}{other}{mark}  {row.note}".rstrip()


def compare(row, rows):
    """A new row against those that there are."""
    same = [other for other in rows if (other.edition, other.case) == (row.edition, row.case)]
    best = min(same, key=lambda other: other.ratio, default=None)
    return Comparison(row, same[-1] if same else None, best)


def is_known(edition, case, rows):
    """Whether there is a row of it: if it cannot be measured now, something was lost."""
    return any((row.edition, row.case) == (edition, case) for row in rows)


def _time(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
