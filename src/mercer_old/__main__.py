"""The door of the command line: `mercer …` and `python -m mercer …`. Errors become exit codes here, nowhere else."""

import os
import signal
import sys
import traceback
from threading import Timer
from typing import Any

from mercer_old import errors, terminal


def main() -> None:
    terminal.hold_standard_streams()
    terminal.MANNERS.quiet = terminal.MANNERS.debug = False  # until the command says otherwise
    terminal.MANNERS.warned.clear()
    _end_cleanly_when_told_to()
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        terminal.end_quietly()
    except errors.MissingPart as error:  # perhaps of what knows the options
        _end(error, str(error), error.exit_code)
    except errors.MercerError as error:
        from mercer_old.commands.wording import in_options

        _end(error, in_options(str(error)), error.exit_code)
    except OSError as error:  # a full disk behind standard output, say
        terminal.silence(1)
        _end(error, f"{error.strerror or error}.", errors.NO_ROOM)
    except KeyboardInterrupt:
        sys.exit(errors.INTERRUPTED)
    sys.exit(code)


def _end(error: BaseException, message: str, code: int) -> None:
    terminal.say(_traced(error) if terminal.MANNERS.debug else f"mercer: {message}", always=True)
    sys.exit(code)


def _traced(error: BaseException) -> str:
    """The lines that led to an error, and to the errors behind it, which sentences for people leave out."""
    behind: BaseException | None = error
    while behind is not None:
        behind.__suppress_context__ = False
        behind = behind.__context__
    return "".join(traceback.format_exception(error)).rstrip("\n")


def _end_cleanly_when_told_to() -> None:
    """By an exception, so that unfinished files are taken away; what was ignored already stays so (nohup)."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    sys.unraisablehook = _hear_again


def _hear_again(lost: Any) -> None:
    """Python drops what is raised in a finalizer, or in a callback of the garbage collector, as Dask's scheduler has.

    Whoever was told to end is told once more, in a moment: from here it would be dropped again.
    """
    if not issubclass(lost.exc_type, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(lost)
        return
    told = signal.SIGINT if lost.exc_type is KeyboardInterrupt else getattr(lost.exc_value, "code", 143) - 128
    again = Timer(0.05, os.kill, (os.getpid(), told))
    again.daemon = True
    again.start()


def _run() -> int:
    """The command; how it ended."""
    try:
        import rich  # noqa: F401
        import typer
    except ModuleNotFoundError as missing:
        raise errors.MissingPart("The command line", missing.name or "typer", "app") from None
    from mercer_old.cli import app

    try:
        return app(prog_name="mercer", standalone_mode=False) or 0
    except typer.Abort:
        return errors.INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # of typer's own, wherever its version keeps them
            raise
        return _refuse_usage(error)


def _refuse_usage(error: Any) -> int:
    """One sentence instead of a box, or the help where nothing was asked for."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return errors.WRONG_USE
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "mercer"
    message = terminal.plain(error.format_message().strip().rstrip("."))
    end = "" if message.endswith("?") else "."
    raise errors.WrongUse(f"{message}{end} See: {command} --help")


if __name__ == "__main__":
    main()
