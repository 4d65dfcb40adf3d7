"""The rules that find the number of components inside a fit: `n_components="parallel"`, `--components parallel`.

It is plain data, so that a command line can be shown before numpy is loaded; `mercer.readings.rules` has the rules.
"""

from mercer_old.errors import joined

__all__ = ["RULES_OF", "rules_in_words"]

#: By the method's name on the command line.
RULES_OF = {
    "pca": (
        "parallel",
        "deflated-parallel",
        "marchenko-pastur",
        "gavish-donoho",
        "tracy-widom",
        "patterson",
        "mle",
        "bic",
        "elbow",
        "broken-stick",
        "kaiser",
    ),
    "ppca": (
        "cv",
        "parallel",
        "deflated-parallel",
        "marchenko-pastur",
        "gavish-donoho",
        "tracy-widom",
        "patterson",
        "mle",
        "bic",
        "elbow",
        "broken-stick",
        "kaiser",
    ),
    "kpca": ("parallel", "elbow", "broken-stick"),
    "lle": (),
}


def rules_in_words(method: str) -> str:
    """All of them: "a, b or c"."""
    return joined(RULES_OF[method], "or")
