"""Walks through files in the order of Go: names sorted, a directory before what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stockman_lab.talos.files.tree import Kind, Node, Tree


@dataclass(frozen=True, slots=True)
class Found:
    """Something met on the way."""

    path: str
    relative: str
    """From where the walk began; a file by itself has its name here, a directory a dot."""
    node: Node

    @property
    def is_directory(self) -> bool:
        return self.node.kind is Kind.DIRECTORY


def walked(
    tree: Tree,
    root: str,
    *,
    depth: int = -1,
    kinds: frozenset[Kind] = frozenset(),
    with_root: bool = True,
) -> Iterator[Found]:
    """Everything below a path; a depth of -1 has no end, no kinds means all of them.

    A directory of a kind that was not asked for is not shown, and its depth is not looked at
    either: what is below it is walked through to the bottom, as Talos does.
    """
    path, node = tree.looked_at(root)
    if node.kind is Kind.LINK:
        path, node = tree.followed(root)
    return _below(tree, _Walk(path, depth, kinds, with_root), path, node)


@dataclass(frozen=True, slots=True)
class _Walk:
    root: str
    depth: int
    kinds: frozenset[Kind]
    with_root: bool

    def ends_at(self, path: str) -> bool:
        if self.depth < 0 or path == self.root:
            return False
        return path.count("/") - self.root.count("/") >= self.depth

    def shows(self, path: str, node: Node) -> bool:
        if self.kinds and node.kind not in self.kinds:
            return False
        return self.with_root or path != self.root or node.kind is not Kind.DIRECTORY


def _below(tree: Tree, walk: _Walk, path: str, node: Node) -> Iterator[Found]:
    is_directory = node.kind is Kind.DIRECTORY
    if walk.shows(path, node):
        yield Found(path, _relative(walk.root, path, is_directory=is_directory), node)
        if is_directory and walk.ends_at(path):
            return
    if not is_directory:
        return
    for name in tree.children(path):
        child = f"{path.rstrip('/')}/{name}"
        yield from _below(tree, walk, child, tree.nodes[child])


def _relative(root: str, path: str, *, is_directory: bool) -> str:
    if path == root:
        return "." if is_directory else path.rpartition("/")[2]
    return path.removeprefix(root).lstrip("/")
