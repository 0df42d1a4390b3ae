"""Repositories of others that the lab knows by heart: a few files of them, by tag."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from stockman_lab.git.backend import place_of

Tree = Callable[[str], Mapping[str, bytes] | None]
"""The files of a repository at a tag or a branch; None: there is no such one."""

_trees: dict[str, Tree] = {}


def register(url: str, tree: Tree) -> None:
    """Have a repository known."""
    _trees[_place(url)] = tree


def known_tree(url: str) -> Tree | None:
    """What is known of a repository; None: nothing."""
    return _trees.get(_place(url))


def hash_of(url: str, name: str) -> str:
    """The commit that a tag of a known repository is on, made up of its name."""
    return hashlib.sha1(f"{_place(url)} {name}".encode(), usedforsecurity=False).hexdigest()


def _place(url: str) -> str:
    return place_of(url).removesuffix(".git")
