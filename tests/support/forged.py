"""Model files that lie: taken apart, changed, and put together again, with hashes that are right."""

import hashlib
import json
from pathlib import Path

NONE = "0" * 64


class Forged:
    """The parts of a model file: what safetensors knows of its tensors, our header, and the bytes of all tensors."""

    def __init__(self, path):
        raw = Path(path).read_bytes()
        length = int.from_bytes(raw[:8], "little")
        self.places = json.loads(raw[8 : 8 + length])
        self.header = json.loads(self.places.pop("__metadata__")["mercer"])
        self.data = bytearray(raw[8 + length :])

    @property
    def model(self):
        return self.header["model"]

    def bytes_of(self, name):
        start, end = self.places[name]["data_offsets"]
        return self.data[start:end]

    def replace(self, name, raw, dtype=None, shape=None):
        """Other bytes for a tensor, which may be more or fewer, or a tensor that was not there."""
        tensors = {other: bytes(self.bytes_of(other)) for other in self.places} | {name: raw}
        self.places.setdefault(name, {"dtype": dtype, "shape": shape})
        self.places[name] |= {key: value for key, value in (("dtype", dtype), ("shape", shape)) if value is not None}
        self._lay_out(tensors)

    def remove(self, name):
        """A tensor less."""
        tensors = {other: bytes(self.bytes_of(other)) for other in self.places if other != name}
        del self.places[name]
        self._lay_out(tensors)

    def _lay_out(self, tensors):
        self.data, widths = bytearray(), {"64": 8, "32": 4, "16": 2}
        for other in sorted(tensors, key=lambda key: (-widths.get(self.places[key]["dtype"][1:], 1), key)):
            start = len(self.data)
            self.data += tensors[other]
            self.places[other]["data_offsets"] = [start, len(self.data)]

    def front(self, text):
        raw = json.dumps({"__metadata__": {"mercer": text}} | self.places).encode()
        raw += b" " * (-(8 + len(raw)) % 64)
        return len(raw).to_bytes(8, "little") + raw

    def written(self, path):
        """With all hashes as they should be, of what there is now."""
        self.header["tensors"] = {name: hashlib.sha256(self.bytes_of(name)).hexdigest() for name in self.places}
        blank = self.front(json.dumps(self.header | {"sha256": NONE}))
        digest = hashlib.sha256(blank).hexdigest()
        Path(path).write_bytes(self.front(json.dumps(self.header | {"sha256": digest})) + self.data)
        return Path(path)
