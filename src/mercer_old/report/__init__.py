"""What people read: pages that need no network.

`gallery` draws the examples and `html` puts them on one page. A page about a fitted model goes three ways:
`gathering` asks every question, `chapters/` one each, about the model and its rows; `facts` keep the answers as one
record that JSON can say, with `origin`, `steps` and `card` (`records` is the way back from JSON); `model_page` makes
a page of them alone, by `sections/`, `pieces`, pictures of `svg/` and the `glossary`. `writing` is all of that, and a
file. `cloud/` is the map of rows, `scripts` what runs on a page, `templates` its files. `comparison/` is the page of
methods side by side, made in the same three ways; `shell` is what both have in common, `labels` and `rows` what is
known of rows. `playground` is that of points to be dragged, with the examples of `presets`, and `index` leads to
what `mercer demo` writes. What is computed is computed by the rooms below, and whatever came from data is escaped
where it is written.
"""
