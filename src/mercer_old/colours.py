"""Colours that colour-blind people can tell apart, and markers to go with them: plain data for every picture."""

__all__ = ["BLUE", "COLOURS", "GREEN", "GREY", "MARKERS", "ORANGE", "PINK", "RED", "SKY"]

#: Okabe and Ito's colours (a grey for their yellow, which is hard to see on white), neighbours differing in lightness.
BLUE, ORANGE, GREEN, PINK, SKY, RED, GREY = COLOURS = [
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8F98",
]  # fmt: skip
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
