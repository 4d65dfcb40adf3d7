"""`make pictures`: the pictures of the README and the documents.

    python -m docs.pictures.draw [NAME ...] [--to FOLDER]

A name is that of a file in docs/pictures. Those of locally linear embedding check what they claim while they are drawn,
as does the script of the three clusters (half a minute); that of the molecules needs RDKit, that of comparisons UMAP,
those of pages chromium; the
others draw figures that are kept in benchmarks/.
"""

import argparse
from pathlib import Path

from docs.pictures.draw import (
    choose,
    compare,
    denoising,
    drives,
    landmarks,
    lle,
    molecules,
    plots,
    report,
    terminal,
    three_clusters,
    wall,
)

PICTURES = (
    lle.PICTURES
    | landmarks.PICTURES
    | wall.PICTURES
    | three_clusters.PICTURES
    | molecules.PICTURES
    | drives.PICTURES
    | denoising.PICTURES
    | choose.PICTURES
    | compare.PICTURES
    | plots.PICTURES
    | terminal.PICTURES
    | report.PICTURES
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PICTURES])
    parser.add_argument("--to", type=Path, default=Path(__file__).parent.parent)
    asked = parser.parse_args()
    for name in asked.names or PICTURES:
        path = asked.to / f"{name}.png"
        path.write_bytes(PICTURES[name]())
        print(path)


if __name__ == "__main__":
    main()
