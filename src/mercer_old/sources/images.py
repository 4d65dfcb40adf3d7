"""A folder of images as rows: every picture is a row, every pixel a column, in grey."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import pillow
from mercer_old.errors import BadData, NoRoom, in_short, listed, warn
from mercer_old.limits import bytes_in_words
from mercer_old.sources.held import HeldRows, as_read
from mercer_old.sources.stored import error_in_short
from mercer_old.terminal import plain

__all__ = ["ENDINGS", "open_images"]

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_PIXELS = 1 << 27  # of one picture, before it is brought to another size


def open_images(path: Path, resize: str | None, most: float) -> HeldRows:
    """All images of a folder by their names, read at once: from 0 (black) to 255, deeper ones as they are."""
    files = sorted(file for file in path.iterdir() if file.suffix.lower() in ENDINGS and file.is_file())
    if not files:
        raise BadData(f"{plain(path)} is a folder without images; known are {', '.join(ENDINGS)}.")
    others = sum(1 for file in path.iterdir()) - len(files)
    if others:
        warn(f"{plain(path)} has {others:,} other files or folders beside its images, which are left out.")
    size = _common_size(files, path) if resize is None else _size(resize)
    width, height = size
    need = 4 * len(files) * width * height
    if 2 * need > most:
        raise NoRoom(
            f"{plain(path)}: {len(files):,} images of {width}×{height} take {bytes_in_words(2 * need)}, over the limit "
            f"of {bytes_in_words(most)}. Give a smaller size (resize='64x64', on the command line --resize)."
        )
    matrix = np.empty((len(files), width * height), dtype=np.float32)
    deep, frames = list[str](), list[str]()
    for row, file in zip(matrix, files, strict=True):
        with _opened(file) as image:
            deep += [file.name] if _is_deep(image) else []
            frames += [file.name] if getattr(image, "n_frames", 1) > 1 else []
            row[:] = _pixels(image, file, size)
    _warn_of(deep if len(deep) < len(files) else [], "are deeper than the others, whose values end at 255", path)
    _warn_of(frames, "have more than one picture, and the first is read", path)
    note = f"{len(files):,} images in grey, {width}×{height} pixels each (--resize)"
    names = [file.name for file in files]
    return as_read(matrix, path, plain(path), row_names=names, heading="file", notes=(note,))


def _size(text: str) -> tuple[int, int]:
    """ "64x48" is 64 wide and 48 high."""
    parts = re.fullmatch(r"\s*(\d{1,5})\s*[x×*]\s*(\d{1,5})\s*", text)
    if not parts or not int(parts[1]) * int(parts[2]):
        raise BadData(f"resize={in_short(text)} is no size: give width and height, such as 64x64.")
    return int(parts[1]), int(parts[2])


def _common_size(files: list[Path], path: Path) -> tuple[int, int]:
    """From their headers alone."""
    sizes = dict[tuple[int, int], Path]()
    for file in files:
        with _opened(file) as image:
            sizes.setdefault(image.size, file)
    if len(sizes) > 1:
        some = listed((f"{plain(file.name)} {w}×{h}" for (w, h), file in sizes.items()), 3)
        raise BadData(
            f"The images of {plain(path)} have different sizes: {some}. Bring them to one: resize='64x64', on the "
            "command line --resize 64x64."
        )
    return next(iter(sizes))


def _pixels(image: Any, file: Path, size: tuple[int, int]) -> Any:
    try:
        grey = image.convert("F" if _is_deep(image) else "L")
        grey = grey if grey.size == size else grey.resize(size)
        return np.asarray(grey, dtype=np.float32).reshape(-1)
    except Exception as error:  # of many decoders
        raise BadData(f"{plain(file)} cannot be read: {error_in_short(error)}.") from None


def _is_deep(image: Any) -> bool:
    """Whether its grey has more than eight bits, or is no whole number: 255 would cut it off."""
    return bool(image.mode[0] in "IF")


def _warn_of(names: list[str], what: str, path: Path) -> None:
    if names:
        warn(f"{len(names):,} of the images of {plain(path)} {what}: {listed(map(repr, names), 3)}.")


def _opened(file: Path) -> Any:
    try:
        image = pillow().open(file)
    except Exception as error:
        if isinstance(error, BadData) or type(error).__name__ == "MissingPart":
            raise
        raise BadData(f"{plain(file)} is no image that can be read: {error_in_short(error)}.") from None
    if image.size[0] * image.size[1] > _PIXELS:
        raise BadData(f"{plain(file)} claims {image.size[0]:,}×{image.size[1]:,} pixels: too many for one image.")
    return image
