"""Many files at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.adapters.file_tree import (
    PartialWrite,
    PathOutsideTree,
    move_file,
    read_files,
    write_files,
)


def test_files_are_written_with_their_directories(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/c.txt": b"text", "d.txt": b""}, (), "tag")
    assert read_files(tmp_path, ["a/b/c.txt", "d.txt", "missing"]) == {
        "a/b/c.txt": b"text",
        "d.txt": b"",
    }
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["c.txt", "d.txt"]


def test_a_replaced_file_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("old")
    path.chmod(0o755)
    write_files(tmp_path, {"run": b"new"}, (), "tag")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o755


def test_nothing_changes_where_one_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text("old")
    (tmp_path / "blocked").write_text("a file, not a directory")
    with pytest.raises(PathOutsideTree):
        write_files(tmp_path, {"first.txt": b"new", "new/x": b"", "blocked/x": b""}, (), "tag")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["blocked", "first.txt"]
    assert (tmp_path / "first.txt").read_text() == "old"


def test_removed_files_take_empty_directories_along(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/c": b"", "a/d": b""}, (), "tag")
    write_files(tmp_path, {}, ["a/b/c", "gone"], "tag")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "d"]


def test_a_new_file_has_the_rights_that_are_meant_for_it(tmp_path: Path) -> None:
    write_files(tmp_path, {"run": b"", "text": b""}, (), "tag", {"run": 0o700})
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "text").stat().st_mode & 0o111 == 0


def test_what_goes_wrong_in_the_middle_is_told_and_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    with pytest.raises(PartialWrite):
        write_files(tmp_path, {"first": b"new", "second": b"", "third": b""}, (), "tag")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["first", "second"]


def test_errors_name_the_file_and_not_its_draft(tmp_path: Path) -> None:
    long = "x" * 300
    with pytest.raises(OSError, match="too long") as caught:
        write_files(tmp_path, {long: b""}, (), "tag")
    assert caught.value.filename == long


def test_a_moved_file_takes_the_place_of_the_other(tmp_path: Path) -> None:
    write_files(tmp_path, {"old": b"old", "new": b"new"}, (), "tag")
    move_file(tmp_path, "new", "old")
    assert read_files(tmp_path, ["old", "new"]) == {"old": b"new"}


@pytest.mark.parametrize("path", ["../out", "/out", "a/../../out", "a\0b"])
def test_paths_that_leave_the_directory_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathOutsideTree):
        write_files(tmp_path / "root", {path: b""}, (), "tag")


def test_links_are_refused_inside_and_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    for work in (
        lambda: write_files(root, {"link/x": b""}, (), "tag"),
        lambda: read_files(root, ["link/x"]),
        lambda: write_files(root, {"link": b""}, (), "tag"),
        lambda: write_files(root, {}, ["link/x"], "tag"),
    ):
        with pytest.raises(PathOutsideTree) as caught:
            work()
        assert "link" in caught.value.why
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_directory_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(PathOutsideTree):
        read_files(tmp_path, ["a"])
    (tmp_path / "b").write_text("")
    with pytest.raises(PathOutsideTree):
        read_files(tmp_path, ["b/c"])
