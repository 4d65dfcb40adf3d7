"""Rows: what is met on the way along a component, how the picture depends on the bandwidth, and which are unusual."""

import base64
from collections.abc import Sequence

from mercer_old.report.chapters.novelty import Novelty
from mercer_old.report.chapters.sweep import Sweep
from mercer_old.report.chapters.walk import Path, Walk
from mercer_old.report.cloud.png import indexed_png
from mercer_old.report.facts import Facts
from mercer_old.report.numbers import bytes_of
from mercer_old.report.pieces import asked_about, figure_of, notes, table, text_of
from mercer_old.report.sections.slider import slider
from mercer_old.report.svg.novelty import novelty as novelty_drawn
from mercer_old.report.svg.sweep import colours_of_groups, sweep_step

__all__ = ["novelty", "sweep", "walk"]

_GREYS = [(255 - step,) * 3 + (255,) for step in range(256)]
_WORDS_OF = {"q": "Q", "t2": "T²", "p": "p-value"}


# ---------------------------------------------------------------------- along a component


def walk(facts: Facts) -> str:
    """A slider for each of the first components."""
    record, said = facts.chapters.walk, notes(facts.chapters.said_of("walk"))
    if record is None:
        return said
    ways = "\n".join(_way(f"walk-{i}", record, path) for i, path in enumerate(record.paths))
    return f'<p>{text_of(record.about)}{asked_about("walk")}</p>\n<div class="ways">{ways}</div>\n{said}'


def _way(key: str, record: Walk, path: Path) -> str:
    frames = {"pictures": _pictures, "columns": _profiles, "items": _items}[record.kind](record, path)
    words = [_at(path, i) for i in range(len(path.scores))]
    label = f"a walk along {path.component}"
    strip = _strip(key, frames, words) if record.kind == "pictures" else ""
    steps = slider(key, label, words, frames, len(words) // 2, _ends(path.scores))
    return f'<figure class="{record.kind}"><figcaption>{text_of(path.component)}</figcaption>\n{steps}{strip}</figure>'


def _at(path: Path, i: int) -> str:
    off = f", {path.off[i]:.2g} from the point" if path.off else ""
    return f"score {path.scores[i]:.3g}{off}"


def _ends(scores: Sequence[float]) -> list[str]:
    return [f"{scores[0]:.3g}", f"{scores[-1]:.3g}"]


def _pictures(record: Walk, path: Path) -> list[str]:
    """Rows that are pictures, as such: high values are dark on white paper, and light by night."""
    drawn = [indexed_png(bytes_of(each).reshape(record.shape), _GREYS) for each in path.pictures]
    return [f'<img class="pixels" alt="" src="data:image/png;base64,{_in_text(png)}">' for png in drawn]


def _in_text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _strip(key: str, frames: Sequence[str], words: Sequence[str]) -> str:
    """All of them side by side: each shows itself."""
    labels = "".join(
        f'<label for="{key}-{i}" title="{text_of(each)}">{frame}</label>'
        for i, (frame, each) in enumerate(zip(frames, words, strict=True))
    )
    return f'<div class="strip" aria-hidden="true">{labels}</div>'


def _profiles(record: Walk, path: Path) -> list[str]:
    """Rows as a bar for each column that changes, from its least to its largest value in the data."""
    return [f'<table class="profile"><tbody>{_lines(path, values)}</tbody></table>' for values in path.values]


def _lines(path: Path, values: Sequence[float]) -> str:
    lines = []
    for name, value, low, high in zip(path.columns, values, path.low, path.high, strict=True):
        part = min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5
        place = f'<td><i style="--at:{part:.3f}"></i>'
        lines.append(f'<tr><th scope="row"><bdi>{text_of(name)}</bdi></th>{place}</td><td>{value:.4g}</td></tr>')
    return "".join(lines)


def _items(record: Walk, path: Path) -> list[str]:
    return [f"<ul>{''.join(f'<li><bdi>{text_of(item)}</bdi></li>' for item in items)}</ul>" for items in path.items]


# ---------------------------------------------------------------------- bandwidths


def sweep(facts: Facts) -> str:
    """A slider over γ, with what is usual."""
    record, said = facts.chapters.sweep, notes(facts.chapters.said_of("sweep"))
    if record is None:
        return said
    some = f"{record.rows:,} of {record.of:,} rows, drawn by chance" if record.rows < record.of else "All rows"
    about = f"{some}, by the kernel {record.kernel} with other γ. {record.about}"
    frames = [sweep_step(record, step) + notes([step.warning]) for step in record.steps]
    ends = [f"γ = {record.steps[0].gamma:.3g}", f"γ = {record.steps[-1].gamma:.3g}"]
    steps = slider("sweep", "the bandwidth γ", [step.words for step in record.steps], frames, record.used, ends)
    words = f"<p>{text_of(about)}{asked_about('sweep')}</p>"
    return f'{words}\n<figure class="sweep">{steps}{_legend(record)}</figure>\n{said}'


def _legend(record: Sweep) -> str:
    keys = "".join(
        f'<li><span class="key" style="background: {colour}"></span><bdi>{text_of(name)}</bdi></li>'
        for name, colour in zip(record.groups, colours_of_groups(record), strict=False)
    )
    return f'<ul class="legend">{keys}</ul>' if keys else ""


# ---------------------------------------------------------------------- novelty


def novelty(facts: Facts) -> str:
    """The most unusual rows first."""
    record, said = facts.chapters.novelty, notes(facts.chapters.said_of("novelty"))
    if record is None or not record.ranked:
        return said
    calibrated = record.ranked[0].p is not None
    counted = f" {record.count:,} of {record.rows:,} rows are called novel." if calibrated else ""
    words = f"<p>{text_of(record.about + counted)}</p>"
    drawn = novelty_drawn(record)
    figure = f"<figure>{drawn}</figure>" if drawn else ""
    return f'{words}\n<div class="beside">{figure}\n{_ranking(record, calibrated)}</div>\n{said}'


def _ranking(record: Novelty, calibrated: bool) -> str:
    head = ["row", *(["p-value"] * calibrated), "T²", "Q", *(["verdict"] * calibrated)]
    rows = [
        [
            each.row,
            *([figure_of(each.p)] if each.p is not None else []),
            figure_of(each.t2),
            figure_of(each.q),
            *(["novel" if each.novel else "usual"] * calibrated),
        ]
        for each in record.ranked
    ]
    return table(head, rows, about={name: term for term, name in _WORDS_OF.items()})
