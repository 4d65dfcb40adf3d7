"""Pictures of facts, as SVG inside a page: colours are classes, which the theme of whoever looks decides.

`frame` has axes, ticks and texts; `scree`, `spectrum`, `bars`, `field`, `sweep` and `novelty` draw the record of their
name. Nothing is asked of a model here, no library draws, and every text is escaped where it is written.
"""
