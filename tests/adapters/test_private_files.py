"""Files for one pair of eyes."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stockman.adapters.files import replace_private_file, restrict_to_owner


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """A process that would let everybody do everything."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_new_file_and_its_directory_are_made(tmp_path: Path) -> None:
    path = tmp_path / "below" / "talosconfig"

    replace_private_file(path, b"one", tag="a")

    assert (path.read_bytes(), mode(path)) == (b"one", 0o600)
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_others_could_read_is_replaced_by_one_that_they_cannot(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"old")
    path.chmod(0o644)

    replace_private_file(path, b"new", tag="a")

    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)

    replace_private_file(link, b"new", tag="a")

    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_nothing_is_left_behind_where_the_place_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.mkdir()

    with pytest.raises(OSError, match="directory"):
        replace_private_file(path, b"new", tag="a")

    assert list(tmp_path.iterdir()) == [path]


def test_closing_tells_whether_it_was_open(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"x")
    path.chmod(0o640)

    assert restrict_to_owner(path)
    assert mode(path) == 0o600
    assert not restrict_to_owner(path)
