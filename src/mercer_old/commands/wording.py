"""Messages of the library in the words of the command line: options instead of parameters."""

import re

from mercer_old.commands.arguments import OPTION_OF

# Names that can be nothing else than Python's are replaced wherever they stand, others only where they are set.
_PROSE = {name: option for name, option in OPTION_OF.items() if "_" in name} | {
    "n_samples": "rows",
    "n_features": "columns",
    "max_iter": "max_iter (in Python)",
}

_ALONE = r"(?<![\w/'\"`-])(?:{})(?![\w/'\"`]|-\w|\.\w)"
_PARAMETER = re.compile(
    rf"The '({'|'.join(OPTION_OF)})' parameter of \w+ must be (.*?)\. Got (.*) instead\.", re.DOTALL
)
_CHOICE = re.compile(r", (?=an? |None)| or (?=an? |None)")
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s,;:)]*[^\s,;:).]"
_SET = re.compile(rf"(?<![\w'\"/-])({'|'.join(OPTION_OF)})(?: = |=)({_VALUE})")
_NAME = re.compile(_ALONE.format("|".join(_PROSE)))
_BOTH = re.compile(r"(?:in Python )?mercer\.open_(?:rows|texts)\(path(?:, [^)]*)?\), on the command line ")
# What scikit-learn's tests want to read, and what there is to say.
_SENTENCES = tuple(
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (
            r"Expected n_neighbors < n_samples, but n_samples = (\d+), n_neighbors = (\d+)",
            r"--neighbors \2 is too many: there are \1 rows, and a row is no neighbour of itself.",
        ),
        (
            r"for method='hessian', n_neighbors must be greater than .*: n_neighbors=(\d+), and (\d+)",
            r"--neighbors \1 is too few for --variant hessian and so many --components: give more than \2.",
        ),
        (
            r"for method='ltsa', n_neighbors=(\d+) must be greater than n_components \+ 1 = (\d+)",
            r"--neighbors \1 is too few for --variant ltsa and so many --components, give more than \2",
        ),
        (
            r"modified LLE requires n_neighbors >= n_components: (\d+) and (\d+)",
            r"--neighbors \1 is too few for --variant modified and --components \2: give at least \2.",
        ),
        (
            r"output dimension must be less than or equal to input dimension: n_components=(\d+), n_features=(\d+)",
            r"--components \1 is too many: the rows have no more than \2 columns.",
        ),
        (
            r"n_components=(\d+) must be between ([01]) and min\(n_samples, n_features\)=(\d+) with svd_solver='\w+'",
            r"--components \1 must be between \2 and \3, as there are no more rows or columns.",
        ),
        (r"n_components=(\d+) must be less than n_samples=(\d+)\.", r"--components \1 is too many for \2 rows."),
        (r"give 1, 2, …, −1 for all, or None\.", "give 1, 2, … or -1 for all."),
    )
)
_PYTHON = (
    (
        " rows first (SimpleImputer).",
        " rows first (mercer fit --method ppca takes gaps, and mercer impute fills them), or compare rows with gaps in "
        "them: mercer fit --table.",
    ),
    (" (SimpleImputer)", ""),
    ("StandardScaler", "--standardize"),
    ("(--out on the command line)", "(--out)"),
    ("see certificate_", "see the certificate"),
)


def in_options(message: str) -> str:
    """A message of the library, for someone who sees options and not parameters."""
    message = _BOTH.sub("", message)
    for pattern, sentence in _SENTENCES:
        message = pattern.sub(sentence, message)
    message = _PARAMETER.sub(_as_sentence, message)
    message = _SET.sub(_as_option, message)
    message = _NAME.sub(lambda found: _PROSE[found[0]], message)
    for word, instead in _PYTHON:
        message = message.replace(word, instead)
    return message


def _as_sentence(found: re.Match[str]) -> str:
    """What scikit-learn says of a parameter, without the choices that only Python has."""
    choices = [_as_choice(choice) for choice in _CHOICE.split(found[2])]
    return f"{OPTION_OF[found[1]]} must be {' or '.join(filter(None, choices))}, not {found[3]}."


def _as_choice(choice: str) -> str:
    if choice.startswith(("an instance of", "a callable", "None", "an array-like")):
        return ""
    if choice.startswith("a str among"):
        words = sorted(set(re.findall(r"'([^']*)'", choice)) - {"precomputed"})
        return ("one of " if len(words) > 1 else "") + ", ".join(words)
    choice = choice.replace("an int", "a whole number").replace("a float", "a number")
    choice = re.sub(r"in the range \[([\d.]+), inf\)", r"of at least \1", choice)
    return re.sub(r"in the range \(([\d.]+), inf\)", r"above \1", choice)


def _as_option(found: re.Match[str]) -> str:
    call = re.search(r"\w\([^)]*$", found.string[: found.start()])
    if call:  # Landmarks(count=100, refine=1): what a plan is made of, not what was said
        return found[0]
    option, value = OPTION_OF[found[1]], found[2].strip("\"'")
    return option if value == "True" else f"{option} {value}"
