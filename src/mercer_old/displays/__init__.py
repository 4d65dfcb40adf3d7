"""Displays: pictures of fitted models and of plain arrays, with scikit-learn's habits.

`canvas` is the one file that asks for matplotlib, `base` what all displays share, `palette` colours and markers,
`clouds` points and regions, `words` names that come from data, `names` their places, `pictures` rows that are some,
`asking` what is read off a model, `kinds` a list of all; every other file has one display.
A display computes nothing: its numbers are those of models, functions, studies and readings, and it keeps them as
attributes. It leaves no state behind, in pyplot or elsewhere, and changes no model.
"""
