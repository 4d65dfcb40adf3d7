"""The page of methods side by side.

`gathering` reads a comparison and its rows into the `record`, which JSON can say. `page` shows that record alone, with
`numbers` for charts and the table; nothing is measured here. `writing` is both, and a file.
"""
