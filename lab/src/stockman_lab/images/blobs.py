"""Contents by their SHA-256, each kept once and only as long as somebody holds it."""

from __future__ import annotations

import hashlib
from dataclasses import field

from stockman_lab.core.state import state


@state
class Blobs:
    """The bytes of a world. The empty name stands for zeros and is nobody's."""

    contents: dict[str, bytes] = field(default_factory=dict)
    holders: dict[str, int] = field(default_factory=dict)
    """How often each is held; what nobody ever held is not in here."""

    def put(self, content: bytes) -> str:
        """Keep a content; returns its name. It is not held yet."""
        name = hashlib.sha256(content).hexdigest()
        self.contents.setdefault(name, content)
        return name

    def hold(self, name: str) -> None:
        """Say that somebody refers to a content."""
        if not name:
            return
        if name not in self.contents:
            raise KeyError(name)
        self.holders[name] = self.holders.get(name, 0) + 1

    def release(self, name: str) -> None:
        """Say that somebody no longer does; the last one takes the content along."""
        if not name:
            return
        left = self.holders[name] - 1
        if left:
            self.holders[name] = left
            return
        del self.holders[name], self.contents[name]

    def get(self, name: str) -> bytes:
        """A content by its name; nothing for the empty one."""
        return self.contents[name] if name else b""

    def __contains__(self, name: str) -> bool:
        return name in self.contents

    @property
    def size(self) -> int:
        """Bytes of everything that is kept."""
        return sum(len(content) for content in self.contents.values())
