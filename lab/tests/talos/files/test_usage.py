"""Room that files take."""

from __future__ import annotations

from stockman_lab.talos.files.tree import Tree
from stockman_lab.talos.files.usage import Wanted, usage

FOLDER = 4096


def shown(depth: int = 0, *, with_files: bool = False, threshold: int = 0) -> dict[str, int]:
    tree = Tree(modified=0.0)
    for path, size in (("/v/a/one", 100), ("/v/a/two", 200), ("/v/b/c/three", 1000), ("/v/z", 7)):
        tree.file(path, bytes(size))
    wanted = Wanted(depth, with_files, threshold)
    return {one.relative: one.size for one in usage(tree, "/v", wanted)}


def test_a_directory_is_as_large_as_all_that_is_in_it() -> None:
    found = shown()
    assert found == {
        "a": 300 + FOLDER,
        "b/c": 1000 + FOLDER,
        "b": 1000 + 2 * FOLDER,
        ".": 1307 + 4 * FOLDER,
    }
    assert list(found) == ["a", "b/c", "b", "."]


def test_files_are_shown_where_they_are_asked_for() -> None:
    assert shown(with_files=True)["b/c/three"] == 1000


def test_depth_limits_what_is_shown_and_not_what_is_counted() -> None:
    assert list(shown(1)) == ["."]
    assert list(shown(2)) == ["a", "b", "."]
    assert shown(1)["."] == shown()["."]


def test_thresholds_go_both_ways() -> None:
    assert list(shown(threshold=8000)) == ["b", "."]
    assert list(shown(threshold=-5000)) == ["a"]
    assert "z" in shown(threshold=-10, with_files=True)
