"""What people read: figures and pages.

`look` is the look of every figure, `gallery` draws the examples, and `html` puts them on one page that needs no
network; `comparison` is the page of methods side by side, from `templates`. Figures are drawn from arrays. Whoever does
not ask for one never loads matplotlib.
"""
