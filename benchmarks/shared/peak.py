"""How much memory a run takes at its peak, beyond what was there before."""

import ctypes
from pathlib import Path
from threading import Event, Thread

LOOK = 0.005  # seconds between two looks at memory


def memory(field):
    """Bytes in memory now ("VmRSS", "RssAnon") or at the most since `forget_peak` ("VmHWM")."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def give_back():
    """Memory that was freed back to the system, or a run could use it without being seen."""
    ctypes.CDLL(None).malloc_trim(0)


class Resident:
    """The peak of all memory beyond what was there before, as the system keeps it."""

    def __enter__(self):
        forget_peak()
        self.before = memory("VmRSS")
        return self

    def __exit__(self, *error):
        self.peak = memory("VmHWM") - self.before


class Own:
    """The same without the pages of mapped files, which the system drops when it needs the room. It keeps no peak of
    that, so that a thread looks every few milliseconds."""

    def __enter__(self):
        self.peak, self.before, self.over = 0, memory("RssAnon"), Event()
        self.thread = Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(LOOK):
            self.peak = max(self.peak, memory("RssAnon") - self.before)

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()
