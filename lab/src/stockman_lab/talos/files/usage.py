"""How much room files take, directory by directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stockman_lab.talos.files.tree import Tree
from stockman_lab.talos.files.walking import walked

_ENDLESS = "/proc/kcore"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is shown."""

    depth: int
    """Levels. 0: all."""
    with_files: bool
    threshold: int
    """Smallest size; below zero: largest one. 0: any."""

    def shows(self, used: Used, depth: int, *, is_directory: bool) -> bool:
        if self.depth > 0 and depth >= self.depth:
            return False
        if not is_directory and not self.with_files:
            return False
        if self.threshold > 0:
            return used.size >= self.threshold
        return self.threshold == 0 or used.size <= -self.threshold


@dataclass(slots=True)
class Used:
    """Room that a file takes, or a directory with all that is in it."""

    path: str
    relative: str
    size: int


def usage(tree: Tree, root: str, wanted: Wanted) -> Iterator[Used]:
    """Sizes below a path: a directory follows what is in it, the root comes last."""
    folders: list[Used] = []
    base = root.count("/") if root != "/" else 1
    for found in walked(tree, root):
        size = 0 if found.path == _ENDLESS else max(found.node.told_size, 0)
        yield from _left(folders, found.path, base, wanted)
        used = Used(found.path, found.relative, size)
        if found.is_directory:
            folders.append(used)
            continue
        if folders:
            folders[-1].size += size
        if wanted.shows(used, found.path.count("/") - base, is_directory=False):
            yield used
    yield from _left(folders, "", base, wanted)


def _left(folders: list[Used], path: str, base: int, wanted: Wanted) -> Iterator[Used]:
    """Directories that the walk has come out of."""
    while folders and not _is_below(path, folders[-1].path):
        used = folders.pop()
        if folders:
            folders[-1].size += used.size
        depth = 0 if not folders else used.path.count("/") - base
        if wanted.shows(used, depth, is_directory=True):
            yield used


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
