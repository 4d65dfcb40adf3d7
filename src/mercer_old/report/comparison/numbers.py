"""What was measured: a chart for every measure, the table of all, and what went wrong."""

from mercer_old.report.comparison.record import Compared, Figure, Measure, Method
from mercer_old.report.pieces import asked_about, text_of
from mercer_old.report.svg.measures import chart

__all__ = ["charts", "numbers"]


def term_of(measure: Measure) -> str:
    """Of the glossary."""
    return measure.name.replace("_", "-")


def charts(facts: Compared) -> str:
    """One for every measure, methods in the same order in all."""
    done = [method for method in facts.methods if method.done]
    if len(done) < 2 or not facts.measures:
        return ""
    words = (
        "Lines are two standard errors to each side. Filled dots are the best, and those that cannot be told from it; "
        "where all are hollow, nobody is surely worse than another."
    )
    drawn = "\n".join(_chart(measure, done) for measure in facts.measures)
    return f'<p>{text_of(words)}{asked_about("told-apart")}</p>\n<div class="charts-grid">{drawn}</div>'


def _chart(measure: Measure, methods: list[Method]) -> str:
    good = "more is better" if measure.larger_is_better else "less is better"
    caption = f"<b>{text_of(measure.head)}</b>{asked_about(term_of(measure))} {text_of(f'{measure.phrase}; {good}')}"
    figures = {method.title: method.figures.get(measure.name) for method in methods}
    return f"<figure><figcaption>{caption}</figcaption>\n{chart(measure, figures)}</figure>"


def numbers(facts: Compared) -> str:
    done = [method for method in facts.methods if method.done]
    parts = [_table(facts.measures, done) if done else "", _troubles(facts.methods)]
    return "\n".join(filter(None, parts))


def _table(measures: tuple[Measure, ...], methods: list[Method]) -> str:
    costs = _costs(methods)
    heads = [f'<th scope="col">{name}{asked_about(term)}</th>' for name, term in costs.items()]
    heads += [f'<th scope="col">{text_of(each.head)}{asked_about(term_of(each))}</th>' for each in measures]
    body = "\n".join(f"<tr>{_row(method, measures, 'memory' in costs)}</tr>" for method in methods)
    label = "table of methods and measures, scrolls sideways on a small screen"
    return (
        f'<div class="wide compared" tabindex="0" role="group" aria-label="{label}"><table class="figures">\n'
        f'<thead><tr><th scope="col">method</th>{"".join(heads)}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>\n"
        '<p class="note">In bold: the best, and those that cannot be told from it.</p>'
    )


def _costs(methods: list[Method]) -> dict[str, str | None]:
    """Heads of what methods took, with the terms that explain them; memory is known of processes of their own."""
    memory = any(method.memory for method in methods)
    return {"seconds": None, "CPU": "cpu"} | ({"memory": "memory"} if memory else {})


def _row(method: Method, measures: tuple[Measure, ...], memory: bool) -> str:
    costs = [_seconds(method.seconds), _seconds(method.cpu_seconds), *[text_of(method.memory)] * memory]
    cells = [f"<td>{cost}</td>" for cost in costs] + [_cell(method.figures.get(each.name)) for each in measures]
    return f'<th scope="row">{text_of(method.title)}</th>{"".join(cells)}'


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "<td>–</td>"
    value, mark, error = figure.words.partition(" ± ")
    shown = f'<b>{value}<span class="unseen"> (best)</span></b>' if figure.best else value
    below = f'<span class="error">±&nbsp;{error}</span>' if mark else ""
    return f"<td>{shown}{below}</td>"


def _troubles(methods: tuple[Method, ...]) -> str:
    """Failures and warnings."""
    lines = [
        f'<li class="failed">{text_of(f"{method.title}: {method.reason}")}</li>' for method in methods if method.reason
    ]
    lines += [
        f"<li>{text_of(f'{method.title} warned: {words}')}</li>" for method in methods for words in method.warnings
    ]
    return f'<ul class="troubles">{"".join(lines)}</ul>' if lines else ""
