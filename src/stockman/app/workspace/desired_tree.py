"""Show the desired state of a directory with origins, and compare two directories."""

from __future__ import annotations

from pathlib import Path

from stockman.app.workspace.validation import load_desired
from stockman.config.nearest import nearest_name
from stockman.config.origin_tree import (
    ConfigDifference,
    OriginTree,
    differences,
    find_subtree,
    flatten_tree,
    origin_tree,
)
from stockman.model.errors import NotFound
from stockman.model.problem import Problem


def show_desired(directory: Path, path: str | None = None) -> OriginTree:
    """Return the desired state as a tree with origins, or the part at a path."""
    tree = origin_tree(load_desired(directory))
    if path is None:
        return tree
    subtree = find_subtree(tree, path)
    if subtree is None:
        names = {name for leaf, _ in flatten_tree(tree) for name in _prefixes(leaf)}
        near = nearest_name(path, sorted(names))
        raise NotFound(
            Problem(
                code="config.no-such-value",
                what=f"there is no {path}",
                why="the desired state has no value of that name",
                fix=f"try {near}" if near else "run `stockman config show` to see all names",
            )
        )
    return subtree


def _prefixes(path: str) -> list[str]:
    prefixes = path.replace("[", ".").replace("]", "").split(".")
    return [".".join(prefixes[:length]) for length in range(1, len(prefixes) + 1)]


def compare_directories(before: Path, after: Path) -> tuple[ConfigDifference, ...]:
    """Return the differences in meaning between two directories."""
    return differences(load_desired(before), load_desired(after))
