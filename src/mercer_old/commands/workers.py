"""Work for several processes, or machines: a cluster that a command starts for itself, or one that it connects to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mercer_old.commands.script import within
from mercer_old.errors import WrongUse
from mercer_old.limits import bytes_in_words, parse_memory
from mercer_old.terminal import plain, say

__all__ = ["Workers"]

_LEAST = 400_000_000  # bytes of a worker: half of them are taken before it has read anything


@dataclass(frozen=True)
class Workers:
    """Those that were asked for, if any."""

    number: int | None = None
    cluster: str | None = None
    memory: str | None = None

    @classmethod
    def typed(cls, given: Mapping[str, Any]) -> "Workers":
        """From the options of a command, which need not have any of these."""
        asked = cls(given.get("workers"), given.get("cluster"), given.get("memory"))
        if asked.number is not None and asked.cluster is not None:
            raise WrongUse("--workers starts processes here, and --cluster connects to others: say one of them.")
        if asked.number is None:
            return asked
        try:
            memory = parse_memory(asked.memory)
        except ValueError as error:
            raise WrongUse(str(error)) from None
        if memory // asked.number < _LEAST:
            most = memory // _LEAST
            way = f"ask for {most}" if most > 1 else "leave --workers out"
            raise WrongUse(
                f"--workers {asked.number} have {bytes_in_words(memory // asked.number)} of memory each, and a worker "
                f"needs {bytes_in_words(_LEAST)}: {way}, or give more (--memory)."
            )
        return asked

    @property
    def _share(self) -> int:
        return parse_memory(self.memory) // (self.number or 1)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Whoever was asked for works until the end, however that comes."""
        if self.number is None and self.cluster is None:
            yield
            return
        from mercer_old.engines.local import connected, local_workers

        if self.cluster is not None:
            with connected(self.cluster):
                say(f"cluster: {plain(self.cluster)}")
                yield
            return
        assert self.number is not None
        with local_workers(self.number, self._share):
            say(f"workers: {self.number}, with {bytes_in_words(self._share)} of memory each")
            yield

    def written(self, code: str) -> str:
        """A script, with the client below which it does its work."""
        if self.cluster is not None:
            return within(f"with Client({self.cluster!r}):", code, "from distributed import Client")
        if self.number is None:
            return code
        from mercer_old.engines.local import OF_LOCAL_WORKERS

        how = {"n_workers": self.number, "memory_limit": self._share} | OF_LOCAL_WORKERS
        client = f"with Client({', '.join(f'{name}={value!r}' for name, value in how.items())}):"
        inside = within(client, code, "from distributed import Client")
        return within('if __name__ == "__main__":  # workers import this file', inside)
