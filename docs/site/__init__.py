"""The documents as a site: `make docs`.

Pages are written once, as Markdown that a code host shows as well; nothing in them is meant for this site alone. Here
they are gathered into build/docs/source (`pages.py`), with what only a site has: a page for every public name
(`names.py`), the figures of the gallery with their claims (`figures.py`) and the order of it all (`contents.py`).
Then Sphinx reads them by `conf.py`. The site works from a file, and asks nothing of the network.
"""
