"""Fits of rows of numbers: principal axes.

`task` says what is asked for and what is found, `ways` are the ways to the axes, one for each form in which the rows
are summed up. `digits` looks after what rounding left of them, and `units` after rows whose squares are no numbers.
`answer` turns eigenvectors into axes, with the conventions and the words that go with them.
"""
