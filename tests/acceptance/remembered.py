"""Renderings that one test process makes once for the same files, however many lives ask for them.

What is rendered follows from the files of a directory alone: scenes have no environment, and their
key is among the files. So whoever finds the very same bytes finds the very same rendering.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from stockman.app.rendering import Rendering
from stockman.app.tree_door import RenderedTree

_MOST = 32
_known: OrderedDict[bytes, Rendering] = OrderedDict()


class RememberedTree(RenderedTree):
    """The rendered files of one directory, without rendering again what was rendered before."""

    def rendering(self) -> Rendering:
        if self._doors.environment:
            return super().rendering()
        key = digest(self._directory)
        if key not in _known:
            _known[key] = super().rendering()
            while len(_known) > _MOST:
                _known.popitem(last=False)
        _known.move_to_end(key)
        return _known[key]


def digest(directory: Path) -> bytes:
    """What tells the files of a directory from others, but for the history of its repository."""
    found = hashlib.blake2b()
    for path, content in sorted(_contents(str(directory), "")):
        found.update(f"{len(path)} {path} {len(content)} ".encode())
        found.update(content)
    return found.digest()


def _contents(directory: str, above: str) -> Iterator[tuple[str, bytes]]:
    with os.scandir(directory) as listed:
        for one in listed:
            path = f"{above}/{one.name}"
            if one.is_symlink():
                yield path, b"-> " + os.fsencode(os.readlink(one.path))
            elif not one.is_dir():
                yield path, _content(one.path)
            elif path != "/.git":
                yield f"{path}/", b""
                yield from _contents(one.path, path)


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
