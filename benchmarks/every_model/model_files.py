"""Models that are kept: how fast large ones are saved and loaded beside plain bytes, and what a command takes cold.

A process of its own does each; what lies in the memory of the system is written out before and, where that is allowed,
thrown away, so that files are read from the disk.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

import numpy as np

import mercer
from benchmarks.shared.pages import head, machine, written_by
from benchmarks.shared.peak import Resident
from benchmarks.shared.suites import Study

ROWS, COLUMNS = 250_000, 500  # of a kernel PCA whose file has a gigabyte
RUNS = 3
ONE_ROW = """
import sys, numpy as np, mercer
model = mercer.load(sys.argv[1])
model.transform(np.zeros((1, 64)))
"""
BARE = "import sklearn.base, scipy.linalg"  # what no model can do without


def large_model(scale):
    """A fitted kernel PCA by a few components, with all its rows: most of the file are these."""
    X = np.random.default_rng(0).normal(size=(max(500, round(ROWS * scale)), COLUMNS))
    model = mercer.KernelPCA(2, kernel="linear", copy_X=False, tol=1e-2)
    return model.fit(X)


def out_of_memory(path):
    """Written to the disk and, if the system lets us, not kept in memory besides."""
    os.sync()
    with suppress(OSError, AttributeError), path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def seconds(run, *given):
    start = time.perf_counter()
    run(*given)
    return time.perf_counter() - start


def write_plain(path, content):
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_plain(path, out):
    with path.open("rb") as file:
        file.readinto(out)


def measure_large(folder, scale):
    """Megabytes a second of saving, loading and verifying, beside plain bytes; peaks of memory."""
    model, path, plain = large_model(scale), folder / "large.mercer", folder / "plain.bin"
    found = {"save": [], "write": [], "load": [], "read": [], "verify": []}
    with Resident() as saving:
        model.save(path)
    content = np.fromfile(path, dtype=np.uint8)  # zeros that were never touched would be written from nowhere
    for _ in range(RUNS):
        found["write"].append(seconds(write_plain, plain, content))
        found["save"].append(seconds(model.save, path))
        out_of_memory(plain)
        found["read"].append(seconds(read_plain, plain, content))
        for name, run in (("load", mercer.load), ("verify", mercer.verify)):
            out_of_memory(path)
            found[name].append(seconds(run, path))
    del model, content
    with Resident() as loading:
        mercer.load(path)
    size = path.stat().st_size / 1e6
    speeds = {name: size / min(times) for name, times in found.items()}
    return size, speeds, {"save": saving.peak / 1e6, "load": loading.peak / 1e6}


def cold(*words, folder):
    """Seconds of a fresh process, the best of some after one that compiles: modules of installed packages are."""
    compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    settings = {"cwd": folder, "env": os.environ | compiled, "check": True, "capture_output": True}
    run = lambda: subprocess.run([sys.executable, *words], **settings)  # noqa: E731
    run()
    return min(seconds(run) for _ in range(RUNS))


def measure_commands(folder):
    from sklearn.datasets import load_digits

    X = load_digits().data
    np.savetxt(folder / "digits.csv", X, delimiter=",", header=",".join(f"p{j}" for j in range(64)), comments="")
    mercer.PCA(10).fit(X).save(folder / "digits_pca.mercer")
    fit = ["-m", "mercer", "fit", "digits.csv", "--gamma", "median", "-d", "10", "--save", "digits.mercer"]
    plot = ["-m", "mercer", "plot", "digits.mercer", "digits.csv", "-o", "digits.svg"]
    model, row = mercer.load(folder / "digits_pca.mercer"), X[:1]
    model.transform(row)
    return {
        "`mercer fit digits.csv --save digits.mercer`": cold(*fit, folder=folder),
        "`mercer plot digits.mercer digits.csv -o digits.svg`": cold(*plot, folder=folder),
        "fresh process: load a model, scores of one row": cold("-c", ONE_ROW, "digits_pca.mercer", folder=folder),
        "fresh process: `import sklearn.base, scipy.linalg`, and nothing else": cold("-c", BARE, folder=folder),
        "`mercer --help`": cold("-m", "mercer", "--help", folder=folder),
        "warm: scores of one row": median(seconds(model.transform, row) for _ in range(200)),
    }


def write(scale):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = measure_commands(folder)
        size, speeds, peaks = measure_large(folder, scale)
    lines = head("| a model of " + f"{size:,.0f} MB | MB/s | plain bytes, MB/s | share | memory beyond the model |")
    for ours, plain in (("save", "write"), ("load", "read"), ("verify", "read")):
        peak = "" if ours == "verify" else f"{peaks[ours] - (size if ours == 'load' else 0):,.0f} MB"
        shown = f"{speeds[ours]:,.0f} | {speeds[plain]:,.0f} | {speeds[ours] / speeds[plain]:.0%}"
        lines.append(f"| {ours} | {shown} | {peak} |")
    times = head("| what | seconds |") + [f"| {what} | {took:.3g} |" for what, took in commands.items()]
    text = [
        f"# Model files\n\n{written_by('model_files')} Best of {RUNS} runs. Saving ends when the disk has the bytes; "
        "files are read from the disk where the system forgets them when asked to. Loading and verifying check the "
        f"sha256 of every tensor.\n\n{machine()}\n",
        *lines,
        "\n## Cold and warm\n\nDigits, 1 797 rows of 64 columns; fresh processes, the interpreter's start included; "
        "modules are compiled before, as those of installed packages are.\n",
        *times,
        "",
    ]
    return "\n".join(text), {"size": size, "speeds": speeds, "peaks": peaks, "seconds": commands}


STUDY = Study(
    name="model_files",
    folder="every_model",
    question="How fast are models kept and loaded, and what do commands take cold?",
    minutes=3,
    write=write,
)
