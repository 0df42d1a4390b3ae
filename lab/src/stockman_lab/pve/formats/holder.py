"""What drives of machines and mounts of containers have in common: a key, and a size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Holder:
    """A place for a volume by its key, with its options; `size` is in bytes."""

    key: str
    options: dict[str, str]

    @property
    def size(self) -> int:
        """Bytes as last written down, 0 if never."""
        return int(self.options.get("size", "0"))

    @size.setter
    def size(self, value: int) -> None:
        self.options["size"] = str(value)
