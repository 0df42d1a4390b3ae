"""A tree of files, made anew whenever somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

_MOST_LINKS = 40
_DIRECTORY_BIT, _LINK_BIT, _DEVICE_BIT = 1 << 31, 1 << 27, 1 << 26


class Kind(Enum):
    """What a name stands for."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    DEVICE = "device"


_BITS = {Kind.DIRECTORY: _DIRECTORY_BIT, Kind.LINK: _LINK_BIT, Kind.DEVICE: _DEVICE_BIT}


class FileError(Exception):
    """A name that leads nowhere, in the words of Go: `stat /x: no such file or directory`."""

    def __init__(self, operation: str, path: str, reason: str) -> None:
        super().__init__(f"{operation} {path}: {reason}")
        self.is_missing = reason == MISSING


MISSING = "no such file or directory"
_NOT_A_DIRECTORY = "not a directory"
_TOO_MANY_LINKS = "too many levels of symbolic links"


@dataclass(slots=True, kw_only=True)
class Node:
    """One file, directory or link."""

    kind: Kind
    permissions: int
    content: Callable[[], bytes] = bytes
    size: int | None = None
    """As it is told. None: what its content is long."""
    modified: float = 0.0
    target: str = ""
    """Of a link."""

    @property
    def told_size(self) -> int:
        return len(self.content()) if self.size is None else self.size

    @property
    def mode(self) -> int:
        """Permissions and kind in the bits of Go."""
        return self.permissions | _BITS.get(self.kind, 0)


@dataclass(slots=True)
class Tree:
    """All files below `/`."""

    modified: float
    """Of what is added without a moment of its own."""
    nodes: dict[str, Node] = field(default_factory=dict)
    _children: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes["/"] = Node(kind=Kind.DIRECTORY, permissions=0o755, size=4096)

    # -- making --------------------------------------------------------------------------------

    def directory(self, path: str, permissions: int = 0o755) -> None:
        """Add a directory, and those above it."""
        self._add(path, Node(kind=Kind.DIRECTORY, permissions=permissions, size=4096))

    def file(
        self,
        path: str,
        content: bytes | str | Callable[[], bytes],
        permissions: int = 0o644,
        size: int | None = None,
    ) -> None:
        """Add a file; content that is a function is asked for when it is read."""
        if isinstance(content, str):
            content = content.encode()
        if isinstance(content, bytes):
            fixed = content
            size = len(fixed) if size is None else size
            self._add(path, _file(lambda: fixed, permissions, size))
        else:
            self._add(path, _file(content, permissions, size))

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        node = Node(kind=Kind.LINK, permissions=0o777, size=len(target), target=target)
        self._add(path, node)

    def device(self, path: str) -> None:
        """Add a device."""
        self._add(path, Node(kind=Kind.DEVICE, permissions=0o660, size=0))

    def _add(self, path: str, node: Node) -> None:
        if not node.modified:
            node.modified = self.modified
        known = path in self.nodes
        self.nodes[path] = node
        if known:
            return
        parent, _, name = path.rpartition("/")
        parent = parent or "/"
        if parent not in self.nodes:
            self.directory(parent)
        self._children.setdefault(parent, []).append(name)

    # -- looking -------------------------------------------------------------------------------

    def children(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        return sorted(self._children.get(path, ()))

    def looked_at(self, path: str) -> tuple[str, Node]:
        """What is at a path, links at its end not followed: Go's `Lstat`."""
        return self._found("lstat", path, follow=False)

    def followed(self, path: str) -> tuple[str, Node]:
        """What a path leads to, all links followed: Go's `Stat`. Its real path comes first."""
        return self._found("stat", path, follow=True)

    def _found(self, operation: str, path: str, *, follow: bool) -> tuple[str, Node]:
        place, rest, links = "/", _parts(path), 0
        while rest:
            name = rest.pop(0)
            if name == "..":
                place = place.rpartition("/")[0] or "/"
                continue
            if self.nodes[place].kind is not Kind.DIRECTORY:
                raise FileError(operation, path, _NOT_A_DIRECTORY)
            child = f"{place.rstrip('/')}/{name}"
            node = self.nodes.get(child)
            if node is None:
                raise FileError(operation, path, MISSING)
            if node.kind is Kind.LINK and (rest or follow):
                links += 1
                if links > _MOST_LINKS:
                    raise FileError(operation, path, _TOO_MANY_LINKS)
                rest = _parts(node.target) + rest
                place = "/" if node.target.startswith("/") else place
                continue
            place = child
        return place, self.nodes[place]


def _file(content: Callable[[], bytes], permissions: int, size: int | None) -> Node:
    return Node(kind=Kind.FILE, permissions=permissions, content=content, size=size)


def _parts(path: str) -> list[str]:
    return [one for one in path.split("/") if one not in ("", ".")]
