"""What people read: pages that need no network.

`gallery` draws the examples and `html` puts them on one page. `facts` are all that is to be told of a fitted model, as
one record that JSON can say: `origin` where it comes from, `steps` what to do next. `pictures` are its displays in both
themes, `model_page` makes a page of them by the `templates`, and `writing` is the way from a model to a file.
`comparison` is the page of methods side by side, `playground` that of points to be dragged, with the examples of
`presets`, and `index` leads to what `mercer demo` writes. `cloud` has rows as points of a map, and
`scripts` is what makes pages alive. What is computed is computed by the rooms below, and whatever came
from data is escaped where it is written.
"""
