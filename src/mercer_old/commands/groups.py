"""Options that go together, for commands to take as a whole; the docstring of a group is its title in the help."""

from typing import Annotated

import typer

from mercer_old.commands import arguments as given

__all__ = [
    "Beside",
    "Kernels",
    "Limits",
    "Neighbors",
    "Reading",
    "Resources",
    "Several",
    "Solvers",
    "Talk",
    "TextKernels",
]


class Kernels:
    """Kernels"""

    kernel: given.Kernel = None
    gamma: given.Gamma = None
    degree: given.Degree = None
    coef0: given.Coef0 = None


class TextKernels:
    """Kernels of texts"""

    n: given.N = None
    shortest: given.Shortest = None
    by: given.By = None
    counts: given.Counts = None
    normalize: given.Normalize = None
    length: given.Length = None
    wildcards: given.Wildcards = None
    m: given.M = None
    alphabet: given.Alphabet = None
    decay: given.Decay = None
    up_to: given.UpTo = None


class Solvers:
    """Solvers"""

    solver: given.Solver = None
    landmarks: given.Landmarks = None
    refine: given.Refine = None


class Neighbors:
    """Locally linear embedding"""

    neighbors: given.Neighbors = None
    variant: given.Variant = None
    reg: given.Reg = None
    metric: given.Metric = None
    on_disconnected: given.OnDisconnected = None


class Beside:
    """What is read beside the features, and written along"""

    id: given.Id = None
    label: given.Label = None
    keep: given.Keep = None


class Reading(Beside):
    """What is read, and how"""

    columns: given.Columns = None
    drop: given.Drop = None
    text: given.Text = None
    case: given.Case = None
    header: given.Header = None
    transpose: given.Transpose = False
    table: given.OfTables = False
    delimiter: given.Delimiter = None
    decimal: given.Decimal = None
    encoding: given.Encoding = None
    format: given.Format = None
    array: given.InArchive = None
    layer: given.Layer = None
    obsm: given.Obsm = None
    resize: given.Resize = None


class Limits:
    """Memory and threads"""

    memory: given.Memory = None
    jobs: given.Jobs = None


class Resources(Limits):
    """Memory, threads, chance"""

    seed: given.Seed = None


class Several:
    """Several processes, or machines"""

    workers: given.Workers = None
    cluster: given.Cluster = None


class Talk:
    """How it answers"""

    as_json: Annotated[bool, typer.Option("--json", help="Print figures as one JSON document to stdout.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings and errors.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from, not its sentence alone.")] = (
        False
    )
    show_code: Annotated[bool, typer.Option("--show-code", help="Print the Python that does the same, and stop.")] = (
        False
    )
