"""Files that belong together appear together."""

from pathlib import Path

import pytest

from mercer.conversions.together import write_together
from mercer.errors import CannotWrite


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_all_are_written_or_none(failing, tmp_path, monkeypatch):
    """Whichever of the last steps the system refuses, what was there before is there again."""
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(b"older")
    replace = Path.replace

    def refused(self, target):
        if Path(target) == paths[failing].resolve() and self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(CannotWrite, match="No space left"):
        write_together({path: b"new" for path in paths})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"older"}
    monkeypatch.undo()
    write_together({path: b"new" for path in paths})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys("abc", b"new")
