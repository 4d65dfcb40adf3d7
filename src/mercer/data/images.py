"""A folder of images: each image is a sample, each pixel a feature, in gray."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Metadata, Source
from mercer.data.read_options import ReadOptions
from mercer.data.reading import IMAGES, check_memory, reading
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, warn
from mercer.text import listed, printable

_PIXEL_BYTES = 12  # while an image is decoded: up to four colors, their gray as an integer or a float, a resized copy


def read_images(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read the images of a folder by name: gray from 0 (black) to 255, deeper images as they are."""
    entries = sorted(path.iterdir())
    files = [file for file in entries if file.suffix.lower() in IMAGES and file.is_file()]
    if not files:
        raise DataError(f"{printable(path)} is a folder without images ({listed(IMAGES, 20)}).", source=path)
    if len(entries) > len(files):
        warn(f"{printable(path)} has {len(entries) - len(files):,} files or folders that are not images, left out.")
    width, height = _common_size(files, path, memory) if options.resize is None else _parse_size(options.resize)
    needed = 4 * len(files) * width * height
    check_memory(
        f"{len(files):,} images of {width} x {height} pixels", needed, memory, remedies=[Remedy("resize", "64x64")]
    )
    matrix, deep, several = np.empty((len(files), width * height), dtype=np.float32), [], []
    for row, file in zip(matrix, files, strict=True):
        with reading(file), _open(file, memory - needed) as image:
            deep += [file.name] if _is_deep(image) else []
            several += [file.name] if getattr(image, "n_frames", 1) > 1 else []
            row[:] = _pixels(image, (width, height))
    if 0 < len(deep) < len(files):
        warn(f"{len(deep):,} of the images have more than 8 bits, unlike the others: {listed(map(repr, deep), 3)}.")
    if several:
        warn(f"{len(several):,} of the images have several frames, first one read: {listed(map(repr, several), 3)}.")
    size = f"{width}x{height}"
    note = MercerWarning(f"{len(files):,} images of {width} x {height} pixels.", "note", [Remedy("resize", size)])
    return ArrayDataset(
        matrix,
        owns_samples=True,
        metadata=Metadata({"file": [file.name for file in files]}, "file"),
        source=Source(printable(path), path, (note,)),
    )


def _parse_size(text: str) -> tuple[int, int]:
    """ "64x48" is 64 wide and 48 high."""
    parts = re.fullmatch(r"\s*(\d{1,5})\s*[x×*]\s*(\d{1,5})\s*", text)
    if not parts or not int(parts[1]) * int(parts[2]):
        raise ParameterError("resize", text, "width and height, such as '64x48'")
    return int(parts[1]), int(parts[2])


def _common_size(files: list[Path], path: Path, memory: int) -> tuple[int, int]:
    sizes: dict[tuple[int, int], str] = {}
    for file in files:
        with reading(file), _open(file, memory) as image:
            sizes.setdefault(image.size, file.name)
    if len(sizes) > 1:
        some = listed((f"{printable(name)} {w} x {h}" for (w, h), name in sizes.items()), 3)
        text = f"The images of {printable(path)} have different sizes: {some}."
        raise DataError(text, source=path, remedies=[Remedy("resize", "64x64")])
    return next(iter(sizes))


def _open(file: Path, memory: int) -> Any:
    image = import_optional("PIL.Image", "io", "A folder of images").open(file)
    what = f"{image.size[0]:,} x {image.size[1]:,} pixels of {printable(file)}"
    check_memory(what, image.size[0] * image.size[1] * _PIXEL_BYTES, memory)
    return image


def _is_deep(image: Any) -> bool:
    """Whether its gray has more than eight bits: 255 would cut it off."""
    return bool(image.mode[0] in "IF")


def _pixels(image: Any, size: tuple[int, int]) -> NDArray:
    gray = image.convert("F" if _is_deep(image) else "L")
    gray = gray if gray.size == size else gray.resize(size)
    return np.asarray(gray, dtype=np.float32).reshape(-1)
