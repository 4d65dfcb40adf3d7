"""What follows from the numbers of a comparison, in sentences that name the numbers they rest on.

There is no single score: what matters depends on what the picture is for. A method counts as worse than another only
where they differ by more than two standard errors of their difference, row by row on the same rows, and by more than
anybody could see.
"""

from collections.abc import Sequence

from mercer_old.errors import counted, joined
from mercer_old.readings.measures import Measured, difference
from mercer_old.studies.compared import MEASURES, Line

__all__ = ["advise", "alike", "ranked"]

_SURE = 2.0  # standard errors
_SEEN = 0.005  # of any measure: less makes no difference to anybody
_NOT_TOLD = f"within two standard errors, or {_SEEN}"
_POOR = 0.8  # trustworthiness below which much is lost; a picture by chance has one half
_WEAK = 0.5  # rank correlation of distances below which gaps between groups say little
_DEARER = 3.0  # times the processor time from which it is worth a sentence
_RESTLESS = 0.1  # Procrustes distance from which a picture counts as another


def advise(
    lines: Sequence[Line],
    *,
    input_hit: Measured | None = None,
    commonest: float | None = None,
    reduced: bool = True,
) -> list[str]:
    """Sentences in the order of questions: neighbours, distances, labels, the way back, new rows, repeats, cost.

    PCA is not praised for having turned rows that were not `reduced`.
    """
    done = [line for line in lines if line.done]
    said = [
        _about_neighbours(done),
        _about_plain_pca(done) if reduced else "",
        _about_distances(done),
        _about_labels(done, input_hit, commonest),
        _about_way_back(done),
        _about_new_rows(done),
        _about_moves(done),
        _about_cost(done),
    ]
    return [sentence for sentence in said if sentence]


# ---------------------------------------------------------------------- who is better, and whether that is sure


def ranked(lines: Sequence[Line], measure: str) -> list[Line]:
    """Those that have the measure, best first; where they differ by rounding alone, in their own order."""
    having = [line for line in lines if measure in line.measures]
    return sorted(having, key=lambda line: -MEASURES[measure].better(round(line.measures[measure].value, 9)))


def alike(lines: Sequence[Line], measure: str) -> list[Line]:
    """The best, and all others that cannot be told from it."""
    order = ranked(lines, measure)
    return [line for line in order if not _worse(line, order[0], measure)]


def _worse(line: Line, other: Line, measure: str) -> bool:
    """Whether a line is surely worse than another one."""
    gap, error = difference(other.measures[measure], line.measures[measure])
    return MEASURES[measure].better(gap) > max(_SURE * error if error == error else 0.0, _SEEN)


def _number(line: Line, measure: str) -> str:
    return line.measures[measure].in_short


def _tied(same: Sequence[Line], measure: str) -> str:
    """The others, of which it is not sure that they are worse than the first; nor that they are as good."""
    if len(same) < 2:
        return ""
    return f"; {_each(same[1:], measure)} cannot be told from it ({_NOT_TOLD})"


def _each(lines: Sequence[Line], measure: str) -> str:
    return joined([f"{line.title} ({line.measures[measure].value:.3f})" for line in lines])


# ---------------------------------------------------------------------- sentences


def _about_neighbours(done: Sequence[Line]) -> str:
    order = ranked(done, "trustworthiness")
    if len(order) < 2:
        return ""
    best, same = order[0], alike(done, "trustworthiness")
    poor = ""
    if best.measures["trustworthiness"].value < _POOR:
        poor = " Even there much is lost, as a picture drawn by chance has 0.5: more coordinates may be needed."
    if len(same) == len(order):
        least = order[-1].measures["trustworthiness"].value
        return (
            f"No method keeps neighbourhoods better than another, as far as these rows tell: trustworthiness is from "
            f"{least:.3f} ({order[-1].title}) to {_number(best, 'trustworthiness')} ({best.title}).{poor}"
        )
    rest = [line for line in order if line not in same]
    return (
        f"What lies together in the picture was together in the rows most often by {best.title} (trustworthiness "
        f"{_number(best, 'trustworthiness')}){_tied(same, 'trustworthiness')}. Surely less so by "
        f"{_each(rest, 'trustworthiness')}.{poor}"
    )


def _about_plain_pca(done: Sequence[Line]) -> str:
    """Whether anything is gained over PCA, which is the easiest to explain."""
    plain = next((line for line in done if line.name == "pca" and not line.settings), None)
    asked = [name for name in ("trustworthiness", "continuity", "label_hit") if plain and name in plain.measures]
    others = [line for line in done if line is not plain]
    if plain is None or not asked or not others:
        return ""
    for measure in asked:
        if any(_worse(plain, line, measure) for line in others if measure in line.measures):
            return ""
    numbers = joined([f"{MEASURES[name].head} {plain.measures[name].value:.3f}" for name in asked])
    return (
        f"Nothing here is surely better than PCA ({numbers}), whose axes can be named and which leads back to rows: "
        "take it."
    )


def _about_distances(done: Sequence[Line]) -> str:
    order = ranked(done, "distances")
    if len(order) < 2:
        return ""
    best, least, same = order[0], order[-1], alike(done, "distances")
    weak = [line for line in order if line.measures["distances"].value < _WEAK]
    if best in weak:
        return (
            f"Gaps between groups, and how wide groups are, say little in any of these pictures: the best rank "
            f"correlation of distances is {_number(best, 'distances')}, by {best.title}."
        )
    if least in same:
        return ""
    reading = (
        f" Gaps between groups, and how wide groups are, say little in {_each(weak, 'distances')}."
        if weak
        else f" The least is kept by {_each([least], 'distances')}."
    )
    return (
        f"Whether far is far is best seen in {best.title} (rank correlation of distances "
        f"{_number(best, 'distances')}){_tied(same, 'distances')}.{reading}"
    )


def _about_labels(done: Sequence[Line], input_hit: Measured | None, commonest: float | None) -> str:
    order = ranked(done, "label_hit")
    if not order or input_hit is None or commonest is None:
        return ""
    best, same = order[0], alike(done, "label_hit")
    found = best.measures["label_hit"]
    if found.value - commonest <= _SURE * found.error:
        return (
            f"No picture says more of labels than the commonest label does: neighbours hit "
            f"{_number(best, 'label_hit')} by {best.title}, and always saying the commonest hits {commonest:.3f}."
        )
    least = "" if order[-1] in same else f"; least by {_each(order[-1:], 'label_hit')}"
    return (
        f"Labels are those of neighbours for {input_hit.value:.3f} of the rows by all columns, and in the picture for "
        f"{_number(best, 'label_hit')} by {best.title}{_tied(same, 'label_hit')}{least}. The commonest label alone has "
        f"{commonest:.3f}."
    )


def _about_way_back(done: Sequence[Line]) -> str:
    order = ranked(done, "reconstruction_error")
    if not order:
        return ""
    best, without = order[0], [line.title for line in done if not line.goes_back]
    lost = best.measures["reconstruction_error"]
    no_way = f" {joined(without)} {'has' if len(without) == 1 else 'have'} no way back." if without else ""
    if lost.value - _SURE * lost.error > 1:
        return (
            f"No way back is better than the mean of the rows: the best, {best.title}, is off by "
            f"{_number(best, 'reconstruction_error')} of the variance of new rows.{no_way}"
        )
    same = alike(done, "reconstruction_error")
    return (
        f"New rows come back best by {best.title}, which loses {_number(best, 'reconstruction_error')} of their "
        f"variance{_tied(same, 'reconstruction_error')}.{no_way}"
    )


def _about_new_rows(done: Sequence[Line]) -> str:
    order = ranked(done, "new_rows")
    if not order:
        return ""
    best, same = order[0], alike(done, "new_rows")
    without = [line.title for line in done if not line.places_new]
    none = f" {joined(without)} {'places' if len(without) == 1 else 'place'} no new rows." if without else ""
    return (
        f"New rows are placed among their neighbours best by {best.title} (trustworthiness of their places "
        f"{_number(best, 'new_rows')}){_tied(same, 'new_rows')}.{none}"
    )


def _about_moves(done: Sequence[Line]) -> str:
    order = ranked(done, "moved")
    if not order:
        return ""
    restless = [line for line in order if line.measures["moved"].value > _RESTLESS]
    drawn = [line for line in ranked(done, "reseeded") if line.measures["reseeded"].value > _RESTLESS]
    alone = f" Another seed alone rearranges {_each(drawn, 'reseeded')}." if drawn else ""
    if not restless:
        most = order[-1]
        return (
            f"All pictures stay what they are when a fifth of the rows is left out and the seed is another: the most "
            f"that one moves is {_number(most, 'moved')} ({most.title}; Procrustes distance, where 1 is nothing in "
            f"common).{alone}"
        )
    still = f" {_each(order[:1], 'moved')} is the stillest." if order[0] not in restless else ""
    return (
        f"With a fifth of the rows left out and another seed, {_each(restless, 'moved')} "
        f"{'is' if len(restless) == 1 else 'are'} arranged otherwise (Procrustes distance, 0 the same shape, 1 nothing "
        f"in common): read who is near whom there, not what lies where.{alone}{still}"
    )


def _about_cost(done: Sequence[Line]) -> str:
    """Of those that keep neighbourhoods best, the cheapest."""
    same = alike(done, "trustworthiness") if ranked(done, "trustworthiness") else []
    if len(same) < 2:
        return ""
    by_cost = sorted(same, key=lambda line: line.cpu_seconds or 0.0)
    cheap, dear = by_cost[0], by_cost[-1]
    if not (dear.cpu_seconds or 0.0) > _DEARER * (cheap.cpu_seconds or 0.0):
        return ""
    return (
        f"Of the {counted(len(same), 'method')} that keep neighbourhoods best, {cheap.title} took "
        f"{cheap.cpu_seconds:.2f} s of processor time and {dear.title} {dear.cpu_seconds:.2f} s."
    )
