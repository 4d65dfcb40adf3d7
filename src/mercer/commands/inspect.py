"""`mercer inspect`: what a model file says of itself."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mercer.terminal import put

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as mercer.save writes it.")]


def inspect(
    model: ModelFile,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Tell what is in a model file, from its header alone: no number of the model is read."""
    from mercer.store.headers import inspect as header_of

    header = header_of(model)
    put(json.dumps(header, indent=2) if as_json else header)
