"""Walks through files."""

from __future__ import annotations

import pytest
from stockman_lab.talos.files.tree import FileError, Kind, Tree
from stockman_lab.talos.files.walking import walked


@pytest.fixture
def tree() -> Tree:
    made = Tree(modified=0.0)
    for path in ("/a/b/c/deep", "/a/b/file", "/a/z", "/a/b-2"):
        made.file(path, path)
    made.link("/link", "/a/b")
    return made


def paths(tree: Tree, root: str, **how: object) -> list[str]:
    return [one.relative for one in walked(tree, root, **how)]  # type: ignore[arg-type]  # by name


def test_a_directory_comes_before_what_is_in_it(tree: Tree) -> None:
    assert paths(tree, "/a") == [".", "b", "b/c", "b/c/deep", "b/file", "b-2", "z"]


def test_depth_ends_a_walk(tree: Tree) -> None:
    assert paths(tree, "/a", depth=0) == [".", "b", "b-2", "z"]
    assert paths(tree, "/a", depth=1) == [".", "b", "b-2", "z"]
    assert paths(tree, "/a", depth=2) == [".", "b", "b/c", "b/file", "b-2", "z"]


def test_kinds_that_are_not_asked_for_do_not_end_it(tree: Tree) -> None:
    assert paths(tree, "/a", depth=1, kinds=frozenset({Kind.FILE})) == [
        "b/c/deep",
        "b/file",
        "b-2",
        "z",
    ]


def test_a_link_at_its_root_is_followed(tree: Tree) -> None:
    assert [one.path for one in walked(tree, "/link")] == [
        "/a/b",
        "/a/b/c",
        "/a/b/c/deep",
        "/a/b/file",
    ]


def test_the_root_can_be_left_out(tree: Tree) -> None:
    assert paths(tree, "/a/b", with_root=False) == ["c", "c/deep", "file"]
    assert paths(tree, "/a/z", with_root=False) == ["z"]


def test_it_refuses_to_begin_nowhere(tree: Tree) -> None:
    with pytest.raises(FileError, match="lstat /b: no such file or directory"):
        walked(tree, "/b")
