"""Thin commands. Each imports what it needs when it runs, so that `mercer --help` answers at once."""

from pathlib import Path
from typing import Annotated, Any

import typer

import mercer
from mercer.errors import ClaimsFailed, MissingPart, NoRoom, WrongUse
from mercer.options import OPTIONS, in_options
from mercer.terminal import plain, put

app = typer.Typer(
    help="Dimension reduction that people can trust on real data.",
    epilog="Exit codes: 0 done, 2 wrong use or a missing part, 3 bad data, 4 not verified, 5 no room, 129 hung up, "
    "130 interrupted, 143 terminated.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # our errors become sentences in __main__; a defect keeps its traceback
)


def _print_version(wanted: bool) -> None:
    if wanted:
        put(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def _count(text: str) -> int:
    """A number of rows as people write it: 80000, 80_000, 8e4."""
    try:
        number = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.") from None
    if not 1 <= number < 1e15 or number != int(number):
        raise typer.BadParameter(f"{text} is not a whole number of at least 1.")
    return int(number)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number.") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.") from None


Components = Annotated[
    str | None,
    typer.Option(
        "--components",
        "-d",
        help="Number of components (10 if left out, of lle 2), or a share of variance below 1 (not of lle); of pca "
        "also mle or bic, which find the number.",
    ),
]
Method = Annotated[str, typer.Option(help="kpca (kernel PCA), pca or lle (locally linear embedding).")]
Neighbors = Annotated[int | None, typer.Option(parser=_whole, help="Of lle: how many describe a row; 5 if left out.")]
Kernel = Annotated[str | None, typer.Option(help="linear, poly, rbf (if left out), sigmoid or cosine.")]
Memory = Annotated[str | None, typer.Option(help='Memory limit, such as "2GB"; half the machine if left out.')]
Jobs = Annotated[int | None, typer.Option(parser=_whole, help="Threads; all if left out.")]


def _components(text: str | None, method: str) -> Any:
    if text is None or (method == "pca" and text in ("mle", "bic")):
        return text
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number < 1:
        return number
    if not (number < 1e15 and number == int(number)):
        words = ", and neither mle nor bic" if method == "pca" else ""
        raise WrongUse(f"--components {text} is neither a whole number nor a share below 1{words}.")
    return int(number)


@app.command()
def fit(
    data: Annotated[str, typer.Argument(help="A .csv, .tsv, .parquet, .arrow, .feather or .npy file; - reads CSV.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", readable=False, help="Where to write scores (.csv, .parquet, .npy …); CSV to stdout."
        ),
    ] = None,
    method: Method = "kpca",
    components: Components = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Divide columns by their standard deviations first.")
    ] = False,
    whiten: Annotated[bool, typer.Option("--whiten", help="Of pca: scores of variance one.")] = False,
    neighbors: Neighbors = None,
    variant: Annotated[
        str | None, typer.Option(help="Of lle: standard (if left out), modified, hessian or ltsa.")
    ] = None,
    reg: Annotated[
        float | None, typer.Option(parser=_number, help="Of lle: regularisation of weights; 0.001 if left out.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Of lle: euclidean (if left out) or cosine.")] = None,
    on_disconnected: Annotated[
        str | None,
        typer.Option(help="Of lle, if the neighbours' graph falls apart: warn (if left out), separate or raise."),
    ] = None,
    kernel: Kernel = None,
    gamma: Annotated[str | None, typer.Option(help='A number, or "median"; 1/columns if left out.')] = None,
    degree: Annotated[float | None, typer.Option(parser=_number, help="Of poly; 3 if left out.")] = None,
    coef0: Annotated[float | None, typer.Option(parser=_number, help="Of poly and sigmoid; 1 if left out.")] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="auto, dense, krylov or landmark; of pca auto, full, covariance_eigh, qr, krylov; of lle auto, "
            "arpack, dense."
        ),
    ] = None,
    landmarks: Annotated[
        int | None, typer.Option(parser=_whole, help="How many landmarks; implies --solver landmark.")
    ] = None,
    refine: Annotated[int | None, typer.Option(parser=_whole, help="Exact passes after landmarks.")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns to use, separated by commas.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Name of a column to leave out; may be repeated.")] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line of a text file has names.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Name of a column of weights: how often each row counts.")] = None,
    memory: Memory = None,
    jobs: Jobs = None,
    seed: Annotated[int | None, typer.Option(parser=_whole, help="Random seed; fixed if left out.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> None:
    """PCA, kernel PCA or locally linear embedding of a file: the plan, the scores, and a certificate.

    Talk goes to stderr, scores to --out or stdout.
    """
    from mercer.jobs import fit_file

    said = {
        "--standardize": standardize or None,
        "--whiten": whiten or None,
        "--neighbors": neighbors,
        "--variant": variant,
        "--reg": reg,
        "--metric": metric,
        "--on-disconnected": on_disconnected,
        "--kernel": kernel,
        "--gamma": _gamma(gamma),
        "--degree": degree,
        "--coef0": coef0,
        "--solver": solver,
        "--landmarks": landmarks,
        "--refine": refine,
    }
    fit_file(
        data,
        out,
        method,
        _params(method, {option: value for option, value in said.items() if value is not None})
        | dict(n_components=_components(components, method), memory_limit=memory, n_jobs=jobs, random_state=seed),
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        drop=drop or [],
        weights=weights,
        header=header,
        only_plan=dry_run,
    )


def _params(method: str, said: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the model, from the options that were given."""
    names = OPTIONS.get(method)
    if names is None:
        raise WrongUse(f"--method {method}: there is no such method; known are {', '.join(OPTIONS)}.")
    for option in said:
        if option not in names:
            others = ", ".join(other for other in OPTIONS if option in OPTIONS[other])
            raise WrongUse(f"{option} is not for --method {method}, but for {others}.")
    return {names[option]: value for option, value in said.items()}


def _gamma(text: str | None) -> float | str | None:
    if text is None or text == "median":
        return text
    try:
        return float(text)
    except ValueError:
        raise WrongUse(f'--gamma {text!r} is neither a number nor "median".') from None


@app.command()
def plan(
    rows: Annotated[list[int], typer.Option(parser=_count, help="Number of rows; may be repeated.")],
    features: Annotated[int, typer.Option(parser=_count, help="Number of columns.")],
    method: Method = "kpca",
    components: Components = None,
    kernel: Kernel = None,
    neighbors: Neighbors = None,
    memory: Memory = None,
    jobs: Jobs = None,
) -> None:
    """Say what PCA, kernel PCA or LLE of so many rows would do, take and need, without doing it."""
    from mercer.functions.planning import plan as plan_ahead

    said = {"--kernel": kernel, "--neighbors": neighbors}
    params = _params(method, {option: value for option, value in said.items() if value is not None})
    for number in rows:
        usual = {"kpca": 10, "pca": min(10, number, features), "lle": min(2, features)}[method]
        wanted = usual if components is None else _components(components, method)
        try:
            ahead = plan_ahead(number, features, wanted, method=method, memory_limit=memory, n_jobs=jobs, **params)
            text = in_options(str(ahead))
        except NoRoom as error:
            if len(rows) == 1:
                raise
            text = f"not possible: {in_options(str(error))}"
        except ValueError as error:  # a kernel, a memory limit or a number that does not exist
            raise WrongUse(str(error)) from None
        put(f"{number:,} row{'s' if number > 1 else ''}: {text}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write index.html into; made if need be.")] = Path("gallery"),
    only: Annotated[
        list[int] | None, typer.Option(parser=_whole, help="A figure to draw, into figure_N.html; may be repeated.")
    ] = None,
) -> None:
    """Draw the gallery: sixteen figures of the lectures, as one page that opens offline."""
    try:
        from mercer.report import gallery, html
    except ModuleNotFoundError as missing:
        raise MissingPart("The gallery", missing.name or "matplotlib", "app") from None
    from mercer.progress import track
    from mercer.threads import one_blas_thread

    scripts = gallery.scripts(only or ())
    name = "_".join(["figure", *(str(int(script.name[:2])) for script in scripts)]) if only else "index"
    page = html.prepare(out / f"{name}.html")  # an unwritable folder is said before the work, not after it
    with one_blas_thread():  # small matrices all of them: threads would only wait for each other
        entries = [gallery.make_entry(script) for script in track(scripts, "drawing")]
    html.write(page, html.gallery_page(entries))
    put(plain(page.resolve()))
    wrong = [f"figure {entry.name}: {claim}" for entry in entries for claim, holds in entry.claims.items() if not holds]
    if wrong:
        raise ClaimsFailed(f"{len(wrong)} of the figures' claims did not hold: {'; '.join(wrong)}")
