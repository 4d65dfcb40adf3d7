"""The door of the command line: `mercer …` and `python -m mercer …`. Errors become exit codes here, nowhere else."""

import os
import sys

from mercer import errors


def main() -> None:
    try:
        sys.exit(_run())
    except errors.MercerError as error:
        print(f"mercer: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("mercer: interrupted; nothing was left half written.", file=sys.stderr)
        sys.exit(errors.INTERRUPTED)
    except BrokenPipeError:  # `mercer … | head`: the reader has gone, which is no error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _run() -> int:
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as missing:
        raise errors.MissingPart("The command line", missing.name or "typer", "app") from None
    from mercer.cli import app

    # standalone_mode=False lets our errors through to main(); usage errors keep typer's own exit code 2.
    return app(standalone_mode=True) or 0


if __name__ == "__main__":
    main()
