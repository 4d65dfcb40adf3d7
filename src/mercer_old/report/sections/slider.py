"""A row of steps of which one is shown: buttons that need no script, and that a script makes a slider of."""

from collections.abc import Sequence

from mercer_old.report.pieces import text_of

__all__ = ["slider"]


def slider(key: str, label: str, words: Sequence[str], frames: Sequence[str], at: int, ends: Sequence[str] = ()) -> str:
    """`words` say what each step is, `frames` show it, `at` is where it begins; `ends` stand at both sides."""
    buttons = "\n".join(
        f'<input type="radio" name="{key}" id="{key}-{i}" aria-label="{text_of(each)}"{" checked" * (i == at)}>'
        for i, each in enumerate(words)
    )
    shown = "\n".join(
        f'<div class="frame">{frame}<p class="words">{text_of(each)}</p></div>'
        for frame, each in zip(frames, words, strict=True)
    )
    sides = "".join(f"<span>{text_of(end)}</span>" for end in ends)
    return (
        f'<div class="slider" role="group" aria-label="{text_of(label)}" style="--steps: {len(words)}">\n{buttons}\n'
        f'<div class="ends" aria-hidden="true">{sides}</div>\n<div class="frames">\n{shown}\n</div>\n</div>'
    )
