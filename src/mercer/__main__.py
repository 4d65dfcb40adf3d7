"""The door of the command line: `mercer …` and `python -m mercer …`. Errors become exit codes here, nowhere else."""

import signal
import sys

from mercer import errors


def main() -> None:
    for number in (
        signal.SIGTERM,
        getattr(signal, "SIGHUP", signal.SIGTERM),
    ):  # so that unfinished files are taken away
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        _run()
    except errors.MercerError as error:
        print(f"mercer: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk behind standard output, say
        print(f"mercer: {error.strerror or error}.", file=sys.stderr)
        sys.exit(errors.NO_ROOM)
    except KeyboardInterrupt:
        sys.exit(errors.INTERRUPTED)


def _run() -> None:
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as missing:
        raise errors.MissingPart("The command line", missing.name or "typer", "app") from None
    from mercer.cli import app

    app(prog_name="mercer")


if __name__ == "__main__":
    main()
