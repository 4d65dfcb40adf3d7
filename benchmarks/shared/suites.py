"""What is measured, as a record: a suite runs every system on every case; a study writes a page of its own."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import BENCHMARKS

ALONE = "One process for each line, best of several runs, the systems of a case right after each other."
WORDS = 100  # letters of a failure that are shown


@dataclass(frozen=True)
class Page:
    """A question that figures answer: `make bench SUITE=name` writes benchmarks/folder/name.md."""

    name: str
    folder: str
    question: str
    minutes: int

    @property
    def path(self):
        return BENCHMARKS / self.folder / f"{self.name}.md"


@dataclass(frozen=True)
class Suite(Page):
    """Every system on every case, each in a process of its own; figures are kept in name.json next to the page.

    A case has a `name`, `systems` (ours first), and `scaled(factor)`: the same with fewer rows.
    """

    title: str
    cases: Sequence
    measure: Callable  # (case, its number, scale) → {system: figures, or why it failed}
    columns: str
    cells: Callable  # (case, system, figures, our figures) → what the columns after case and system show
    meaning: Callable  # (all figures) → what the columns mean
    peers: tuple[str, ...] = ()  # packages whose versions the page tells
    summary: Callable = field(default=lambda results: [])  # (all figures) → lines before the table

    def run(self, folder, only="", scale=1.0):
        """Measures the cases whose name contains the text `only`; the figures of the others stay as they are."""
        kept, page = folder / f"{self.name}.json", folder / f"{self.name}.md"
        results = json.loads(kept.read_text(encoding="utf-8")) if only and kept.exists() else {}
        for number, case in enumerate(case.scaled(scale) for case in self.cases):
            if only not in case.name:
                continue
            results[case.name] = self.measure(case, number, scale)
            kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            print(*self.rows(case, results[case.name]), sep="\n", flush=True)
            page.write_text(self.page(results, scale), encoding="utf-8")
        return page

    def rows(self, case, systems):
        """The lines of a case."""
        ours = systems.get(case.systems[0], {"failed": "not measured"})
        for system, result in systems.items():
            failed = [f"failed: {result['failed'][:WORDS]}"] if "failed" in result else None
            cells = failed or self.cells(case, system, result, ours)
            who = [system] if "| system |" in self.columns else []
            yield line([case.name if system == case.systems[0] else "", *who, *cells], self.columns)

    def page(self, results, scale=1.0):
        """The table of all results there are, in the order of the cases."""
        cases = [case.scaled(scale) for case in self.cases]
        lines = [f"# {self.title}", "", f"{written_by(self.name)} {ALONE} {self.meaning(results)}", ""]
        lines += [machine(self.peers), "", *self.summary(results), *head(self.columns)]
        lines += [row for case in cases for row in self.rows(case, results.get(case.name, {}))]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Study(Page):
    """A page that one function writes, with figures next to it if there are any to keep."""

    write: Callable  # (scale) → the page, and figures or None

    def run(self, folder, only="", scale=1.0):
        if only:
            raise SystemExit(f"{self.name} has no cases to choose from: leave --only out.")
        text, figures = self.write(scale)
        page = Path(folder) / f"{self.name}.md"
        page.write_text(text, encoding="utf-8")
        if figures is not None:
            page.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(text)
        return page
