"""What every picture is made of: a plane with two scales, ticks at round numbers, marks and texts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from mercer_old.errors import shortened
from mercer_old.report.pieces import text_of

__all__ = ["Plane", "Scale", "dots", "picture", "round_steps", "short", "text", "tick_words"]

_NAME = 20  # letters of a name in a picture


@dataclass(frozen=True)
class Scale:
    """Numbers → places along one side, by themselves or by their logarithms."""

    low: float
    high: float
    start: float
    end: float
    by_logarithm: bool = False

    def __call__(self, value: float) -> float:
        low, high = self._seen(self.low), self._seen(self.high)
        part = (self._seen(value) - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * part

    def _seen(self, value: float) -> float:
        return log10(max(value, 5e-324)) if self.by_logarithm else value

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers between both ends; of logarithms, powers of ten."""
        if not self.by_logarithm:
            return round_steps(self.low, self.high, about)
        first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
        step = max(1, -(-(last - first + 1) // about))
        powers = [10.0**power for power in range(first, last + 1, step)]
        return powers if len(powers) > 1 else [self.low, self.high]


def round_steps(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    if not (isfinite(low) and isfinite(high) and high > low):
        return [low] if isfinite(low) else []
    raw = (high - low) / max(about, 1)
    power = 10.0 ** floor(log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= 0.7 * raw)
    return [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def tick_words(ticks: Sequence[float]) -> list[str]:
    """All with as many digits as tell them apart."""
    return [f"{0.0 if abs(tick) < 1e-12 * max(map(abs, ticks), default=1) else tick:.6g}" for tick in ticks]


@dataclass(frozen=True)
class Plane:
    """A box with a scale along x and one along y, which grows upwards."""

    x: Scale
    y: Scale

    def axes(self, x_words: str, y_words: str, x_ticks: Sequence[float] | None = None, unit: str = "") -> str:
        """Faint lines at round numbers of y, ticks, and what the axes mean."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        ticks = self.x.ticks() if x_ticks is None else list(x_ticks)
        parts = []
        for tick, words in zip(self.y.ticks(), tick_words(self.y.ticks()), strict=True):
            at = short(self.y(tick))
            parts.append(f'<path class="grid" d="M{short(left)} {at}H{short(right)}"/>')
            parts.append(text(left - 6, self.y(tick) + 4, words + unit, "tick", "end"))
        parts.append(f'<path class="axis" d="M{short(left)} {short(bottom)}H{short(right)}"/>')
        for tick, words in zip(ticks, tick_words(ticks), strict=True):
            parts.append(text(self.x(tick), bottom + 15, words, "tick", "middle"))
        if x_words:
            parts.append(text((left + right) / 2, bottom + 31, x_words, "label", "middle"))
        if y_words:
            parts.append(text(left, top - 8, y_words, "label"))
        return "\n".join(parts)


def picture(width: float, height: float, title: str, words: str, parts: Iterable[str], kind: str = "") -> str:
    """The whole of it; `title` and `words` are what people hear who do not see."""
    classes, label = f"drawn {kind}".strip(), text_of(f"{title}. {words}".strip())
    box = f'viewBox="0 0 {short(width)} {short(height)}" role="img" aria-label="{label}"'
    return f'<svg class="{classes}" {box}>\n' + "\n".join(filter(None, parts)) + "\n</svg>"


def text(x: float, y: float, words: object, kind: str = "", anchor: str = "start", whole: str = "") -> str:
    """A text at a place; `whole` is told on hovering where only a part is shown."""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    styled = f' class="{kind}"' if kind else ""
    shown = shortened(str(words), _NAME) if kind == "name" else str(words)
    more = f"<title>{text_of(whole or words)}</title>" if kind == "name" and shown != str(words) else ""
    return f'<text x="{short(x)}" y="{short(y)}"{place}{styled}>{more}{text_of(shown)}</text>'


def dots(places: Iterable[tuple[float, float]], kind: str) -> str:
    """Many points as one path of round strokes: ten bytes a point."""
    path = "".join(f"M{short(x)} {short(y)}h0" for x, y in places)
    return f'<path class="dots {kind}" d="{path}"/>' if path else ""


def short(value: float) -> str:
    """A place in as few letters as a tenth of a pixel takes."""
    return f"{round(value, 1) + 0.0:g}"
