"""The script of a page: files of `page/scripts` as one text that the page's policy knows by its hash; and data that a
script reads."""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any

__all__ = ["Script", "data_block", "page_script"]

# What would end a block of data, or a line of a script.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Script:
    """What stands between `<script>` and `</script>`, to the letter, and the policy under which it runs."""

    text: str

    @cached_property
    def policy(self) -> str:
        """The content of the page's Content-Security-Policy: this script alone, and nothing from anywhere else."""
        digest = base64.b64encode(hashlib.sha256(self.text.encode("utf-8")).digest()).decode("ascii")
        return (
            f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'"
        )


def page_script(*names: str) -> Script:
    """The files of these folders of `page/scripts`, each folder's in the order of their names.

    "shared" comes first, named or not: all others see its names, and of each other's none. `work(task)` in any of them
    is run at the end; the page is done when all are.
    """
    others = [name for name in dict.fromkeys(names) if name != "shared"]
    scopes = [part for name in others for part in ("{", *_files(name), "}")]
    return Script("\n".join(['(() => {\n"use strict";', *_files("shared"), *scopes, "finish();\n})();"]))


def data_block(name: str, record: Any) -> str:
    """A record for scripts to read by its name: a block that no browser runs, and that no text in it can end."""
    content = json.dumps(record, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)
    return f'<script type="application/json" id="{name}">{content}</script>'


def _files(name: str) -> list[str]:
    folder = resources.files("mercer_old.report").joinpath("page", "scripts", name)
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".js")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8").rstrip("\n") for file in files]
