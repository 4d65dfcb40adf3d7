"""The page of methods side by side: `gathering` reads a comparison and its rows into the `record`, `page` shows it,
with sections of `numbers`; `writing` is both, and a file."""
