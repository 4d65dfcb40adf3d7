"""Sections of a page about a model: facts → HTML, each function one section, or nothing where there is nothing to tell.

`about_components` has scree, columns and stability, `about_rows` walks, bandwidths and novelty, `about_model` proof,
plan, origin, card and what to do next. `slider` is a row of steps of which one is shown. No model is asked here.
"""
