"""The options that commands share, each described once: its name, its help, and what it sets in Python."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mercer_old import kernel_names
from mercer_old.commands.typed import count, number, number_or_rule, share_or_count, whole, whole_or_auto, yes_or_word
from mercer_old.errors import WrongUse
from mercer_old.rule_names import rules_in_words
from mercer_old.terminal import plain

METHODS = ("kpca", "pca", "ppca", "lle")
RELATIVES = ("fa", "gplvm", "autoencoder")  # of `mercer fit` alone
PARAMETERS: dict[str, dict[str, str]] = {}  # of an option: the parameter of each method's model that it sets
OPTION_OF: dict[str, str] = {}  # of a name in Python: the option
OF_KERNELS: dict[str, str] = {}  # of an option: the parameter of kernels of texts that it sets


def _option(name: str, *short: str, help: str, python: str = "", **how: Any) -> Any:
    """An option; `python` is the name for the same in messages of the library."""
    if python:
        OPTION_OF[python] = name.partition("/")[0]
    return typer.Option(name, *short, help=help, **how)


def _parameter(name: str, help: str, parser: Any = None, **parameters: str) -> Any:
    """An option that sets a parameter, which each method may call differently, or not have."""
    PARAMETERS[name] = parameters
    OPTION_OF.update({parameter: name for parameter in parameters.values()})
    return typer.Option(name, help=help, parser=parser)


def _of_kernel(name: str, help: str, parser: Any = None) -> Any:
    """An option that sets a parameter of kernels of texts: of those that the table of names gives it to."""
    OF_KERNELS[name] = parameter = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"Of {kernel_names.takers(parameter)}: {help}", parser=parser)


def _everywhere(parameter: str, *but: str) -> dict[str, str]:
    return {method: parameter for method in METHODS + RELATIVES if method not in but}


# ---------------------------------------------------------------------- what can be said to any command

_METHODS_IN_WORDS = "kpca (kernel PCA), pca, ppca (probabilistic PCA, of which numbers may be missing)"
Method = Annotated[
    str,
    _option(
        "--method",
        help=f"{_METHODS_IN_WORDS} or lle (locally linear embedding).",
    ),
]
MethodOfFit = Annotated[
    str,
    _option(
        "--method",
        help=f"{_METHODS_IN_WORDS}, lle (locally linear embedding), fa (factor analysis), gplvm (Gaussian process "
        "latent variables) or autoencoder.",
    ),
]
Components = Annotated[
    str | None,
    _option(
        "--components",
        "-d",
        help="Number of components (10 if left out, of ppca cv, of lle, fa, gplvm and autoencoder 2); of pca, ppca and "
        f"kpca also a share of variance below 1, or a rule that finds the number: of pca {rules_in_words('pca')}; of "
        f"ppca the same, and cv (by what is held out); of kpca {rules_in_words('kpca')}; auto is parallel, of ppca cv.",
        python="n_components",
    ),
]
Memory = Annotated[
    str | None,
    _parameter("--memory", 'Memory limit, such as "2GB"; half the machine if left out.', **_everywhere("memory_limit")),
]
Jobs = Annotated[int | None, _parameter("--jobs", "Threads; all if left out.", whole, **_everywhere("n_jobs"))]
Workers = Annotated[
    int | None,
    _option(
        "--workers",
        parser=count,
        help="Start so many processes on this machine, which share --memory and read large Parquet by themselves.",
    ),
]
Cluster = Annotated[
    str | None, _option("--cluster", help="Let the workers of a Dask cluster do the same: tcp://host:port.")
]
Seed = Annotated[
    int | None, _parameter("--seed", "Random seed; fixed if left out.", whole, **_everywhere("random_state"))
]
Standardize = Annotated[
    bool,
    _parameter(
        "--standardize", "Divide columns by their standard deviations first.", **_everywhere("standardize", "fa")
    ),
]
Solver = Annotated[
    str | None,
    _parameter(
        "--solver",
        "auto, dense, krylov or landmark; of pca and ppca auto, full, covariance_eigh, qr, krylov; of lle auto, "
        "arpack, dense.",
        kpca="eigen_solver",
        pca="svd_solver",
        ppca="svd_solver",
        lle="eigen_solver",
    ),
]

# ---------------------------------------------------------------------- of one method

Kernel = Annotated[
    str | None,
    _parameter(
        "--kernel",
        f"{kernel_names.in_words(usual='rbf')}; of texts {kernel_names.in_words(kernel_names.OF_TEXTS, 'spectrum')}; "
        "table, of columns of all kinds.",
        kpca="kernel",
    ),
]
Gamma = Annotated[
    str | None,
    _parameter(
        "--gamma",
        f'A number, "median", or "cv" (by cross-validation); {kernel_names.usual_gamma()}.',
        number_or_rule,
        kpca="gamma",
    ),
]
Degree = Annotated[float | None, _parameter("--degree", "Of poly; 3 if left out.", number, kpca="degree")]
Coef0 = Annotated[float | None, _parameter("--coef0", "Of poly and sigmoid; 1 if left out.", number, kpca="coef0")]
Landmarks = Annotated[
    int | None,
    _parameter(
        "--landmarks",
        "How many landmarks; of kpca implies --solver landmark.",
        whole,
        kpca="n_landmarks",
        lle="n_landmarks",
        gplvm="n_landmarks",
    ),
]
Refine = Annotated[int | None, _parameter("--refine", "Exact passes after landmarks.", whole, kpca="refine")]
Whiten = Annotated[
    bool, _parameter("--whiten", "Of pca and ppca: scores of variance one.", pca="whiten", ppca="whiten")
]
Neighbors = Annotated[
    str | None,
    _parameter(
        "--neighbors",
        'Of lle: how many describe a row; 5 if left out. "auto" finds a number.',
        whole_or_auto,
        lle="n_neighbors",
    ),
]
Variant = Annotated[
    str | None, _parameter("--variant", "Of lle: standard (if left out), modified, hessian or ltsa.", lle="method")
]
Reg = Annotated[
    float | None, _parameter("--reg", "Of lle: regularisation of weights; 0.001 if left out.", number, lle="reg")
]
Metric = Annotated[
    str | None,
    _parameter("--metric", "Of lle: euclidean (if left out) or cosine; of texts as --kernel has them.", lle="metric"),
]
OnDisconnected = Annotated[
    str | None,
    _parameter(
        "--on-disconnected",
        "Of lle, if the neighbours' graph falls apart: warn (if left out), separate or raise.",
        lle="on_disconnected",
    ),
]

# ---------------------------------------------------------------------- of kernels of texts

N = Annotated[int | None, _of_kernel("--n", "letters of a gram; 3 if left out.", whole)]
Shortest = Annotated[int | None, _of_kernel("--shortest", "grams of all lengths from this to --n.", whole)]
By = Annotated[str | None, _of_kernel("--by", "characters (if left out), graphemes or words.")]
Counts = Annotated[str | None, _of_kernel("--counts", "product (if left out), min or once.")]
Normalize = Annotated[str | None, _of_kernel("--normalize", "yes (if left out), no, dice or jaccard.", yes_or_word)]

Length = Annotated[
    int | None,
    _of_kernel("--length", "letters of a window (6 if left out), or of a subsequence (3 if left out).", whole),
]
Wildcards = Annotated[int | None, _of_kernel("--wildcards", "letters that are left open; 2 if left out.", whole)]
M = Annotated[int | None, _of_kernel("--m", "letters that may be exchanged; 1 if left out.", whole)]
Alphabet = Annotated[str | None, _of_kernel("--alphabet", "letters to exchange others for; those that there are.")]
Decay = Annotated[float | None, _of_kernel("--decay", "weight of a letter that is spanned; 0.5 if left out.", number)]
UpTo = Annotated[bool | None, _of_kernel("--up-to", "all lengths up to --length.")]

# ---------------------------------------------------------------------- of novelty

Statistic = Annotated[
    str | None,
    _option(
        "--statistic", help="reconstruction (if left out), t2, t2q (both) or lecture (not of pca).", python="statistic"
    ),
]
Alpha = Annotated[
    float | None,
    _option("--alpha", help="Share of false alarms among usual rows; 0.1 if left out.", python="alpha", parser=number),
]
Fdr = Annotated[
    float | None,
    _option(
        "--fdr",
        help="Call rows novel all together, so that no more than this share of those called is false on average.",
        python="fdr",
        parser=number,
    ),
]
Calibration = Annotated[
    float | None,
    _option(
        "--calibration",
        help="Share, or number, of the rows held out for calibration; 0.25 if left out.",
        python="calibration",
        parser=share_or_count,
    ),
]
Trim = Annotated[
    float | None,
    _option(
        "--trim",
        help="Share of the rows that may be outliers themselves; 0 if left out.",
        python="trim",
        parser=number,
    ),
]

# ---------------------------------------------------------------------- of files

_A_FILE = (
    "A .csv, .tsv, .parquet, .arrow, .feather, .npy, .npz or .h5ad file, or a folder of Parquet files or images; - "
    "reads CSV."
)
Data = Annotated[str, typer.Argument(help=_A_FILE)]
DataOrTexts = Annotated[
    str, typer.Argument(help=f"{_A_FILE} For a kernel of texts also FASTA, or any file with one text a line.")
]
DataOrModel = Annotated[
    str,
    typer.Argument(help=f"{_A_FILE} For a kernel of texts also FASTA, or lines of text. Or a model file (.mercer)."),
]
RowsOfModel = Annotated[
    str | None, typer.Argument(help="After a model file: the file of the rows that it was fitted to.")
]
Model = Annotated[str, typer.Argument(help="A model file, as --save of `mercer fit` writes it.")]
New = Annotated[
    str, typer.Argument(help="The file of new rows, with the columns of the fit in any order; - reads CSV.")
]
Scores = Annotated[str, typer.Argument(help="A file of scores, as `mercer transform` writes it; - reads CSV.")]
Save = Annotated[
    Path | None,
    typer.Option("--save", readable=False, help="Where to keep the fitted model for other commands: m.mercer."),
]
RowsOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", readable=False, help="Where to write rows (.csv, .parquet, .npy …); CSV to stdout."),
]
WithError = Annotated[bool, typer.Option("--error", help="Write along how far each row is from what it stands for.")]
ScoresOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", readable=False, help="Where to write scores (.csv, .parquet, .npy …); CSV to stdout."),
]
Columns = Annotated[str | None, _option("--columns", help="Names of the columns to use, separated by commas.")]
Drop = Annotated[list[str] | None, _option("--drop", help="Name of a column to leave out; may be repeated.")]
Header = Annotated[
    bool | None,
    _option("--header/--no-header", help="Whether the first line of a text file has names.", python="header"),
]
Text = Annotated[str | None, _option("--text", help="Name of a column of texts, for a kernel of texts.")]
Case = Annotated[str | None, _option("--case", help="Turn the letters of texts into upper or lower ones.")]
Weights = Annotated[
    str | None,
    _option("--weights", help="Name of a column of weights: how often each row counts.", python="sample_weight"),
]
Id = Annotated[
    str | None,
    _option("--id", help="Name of the column that names rows; a first column of different texts is taken by itself."),
]
Label = Annotated[
    str | None,
    _option("--label", help="Name of a column of classes or numbers for colours: written along, never a feature."),
]
Keep = Annotated[list[str] | None, _option("--keep", help="Name of a column to write along as it is; may be repeated.")]
Transpose = Annotated[
    bool, _option("--transpose", help="Columns of the file are the rows, as where genes have a line each.")
]
Delimiter = Annotated[
    str | None, _option("--delimiter", help="What separates fields: , ; | tab or blank; looked for if left out.")
]
Decimal = Annotated[str | None, _option("--decimal", help="The decimal mark, . or , ; looked for if left out.")]
Encoding = Annotated[
    str | None,
    _option("--encoding", help="Of a text file, such as latin-1; looked for if left out.", python="encoding"),
]
Format = Annotated[
    str | None,
    _option("--format", help="What the file is, such as csv or parquet, if its name does not say so.", python="format"),
]
OfTables = Annotated[
    bool, _option("--table", help="Compare columns of all kinds: --kernel table, of lle --metric table.")
]
InArchive = Annotated[str | None, _option("--array", help="Name of the array in a .npz file with several.")]
Layer = Annotated[str | None, _option("--layer", help="Name of a layer of a .h5ad file, instead of X.")]
Obsm = Annotated[str | None, _option("--obsm", help="Name of a matrix in obsm of a .h5ad file, instead of X.")]
Resize = Annotated[
    str | None, _option("--resize", help="Size that images of a folder are brought to, such as 64x64.", python="resize")
]

# ---------------------------------------------------------------------- of comparing kernels

Labels = Annotated[
    str | None,
    _option("--labels", help="Name of a column of labels, or of numbers, to compare kernels by."),
]
Kernels = Annotated[
    str | None,
    _option("--kernels", help="Names separated by commas; if left out linear,cosine,poly,rbf,matern,laplacian."),
]
Scoring = Annotated[
    str | None,
    _option("--scoring", help="With --labels: a scorer of scikit-learn (accuracy, r2) instead of alignment."),
]
ComparedBy = Annotated[
    int | None,
    _option("--components", "-d", parser=count, help="By how many components kernels are compared; 10 or fewer."),
]
Folds = Annotated[
    int, _option("--folds", parser=count, help="Folds of the cross-validation; 5 if left out.", python="folds")
]
Sample = Annotated[
    int, _option("--sample", parser=count, help="Rows to look at; 1000 if left out.", python="subsample")
]

# ---------------------------------------------------------------------- of how sure components are

Draws = Annotated[
    int, _option("--draws", parser=count, help="How often rows are drawn again; 50 if left out.", python="n_boot")
]


def model_parameters(method: str, context: typer.Context, known: tuple[str, ...] = METHODS) -> dict[str, Any]:
    """Parameters of the method's model, one of those that a command knows, from the options that were typed."""
    if method in RELATIVES and method not in known:
        raise WrongUse(f"--method {method} is for mercer fit; known here are {', '.join(known)}.")
    if method not in known:
        raise WrongUse(f"--method {plain(method)}: there is no such method; known are {', '.join(known)}.")
    values = {option.opts[0]: context.params[option.name] for option in context.command.params if option.name}
    said = {option: value for option, value in values.items() if option in PARAMETERS and _is_said(value)}
    for option in said:
        if method not in PARAMETERS[option]:
            others = [other for other in PARAMETERS[option] if other in known]
            raise WrongUse(f"{option} is not for --method {method}, but for {', '.join(others)}.")
    return {PARAMETERS[option][method]: value for option, value in said.items()}


def kernel_parameters(context: typer.Context) -> dict[str, Any]:
    """Options of kernels of texts that were typed, by their names."""
    values = {option.opts[0]: context.params[option.name] for option in context.command.params if option.name}
    return {option: value for option, value in values.items() if option in OF_KERNELS and value is not None}


def _is_said(value: Any) -> bool:
    return value is not None and value is not False  # 0 is something to say
