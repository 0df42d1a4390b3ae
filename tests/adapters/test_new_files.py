"""Files that are made once."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stockman.adapters import files
from stockman.adapters.files import append_bytes, create_file, path_exists, remove_drafts


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@contextmanager
def masking(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with masking(0):
        file = create_file(tmp_path / "age.key", b"key", private=True, tag="1")

    assert file
    assert mode(tmp_path / "age.key") == 0o600
    assert (tmp_path / "age.key").read_bytes() == b"key"


def test_the_owner_can_read_a_private_file_whatever_the_process_masks(tmp_path: Path) -> None:
    with masking(0o777):
        create_file(tmp_path / "age.key", b"key", private=True, tag="1")

    assert mode(tmp_path / "age.key") == 0o600


def test_any_other_file_is_as_the_process_masks_it(tmp_path: Path) -> None:
    with masking(0o027):
        create_file(tmp_path / "cluster.yaml", b"", private=False, tag="1")

    assert mode(tmp_path / "cluster.yaml") == 0o640


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "age.key").write_bytes(b"mine")

    assert not create_file(tmp_path / "age.key", b"new", private=True, tag="1")

    assert (tmp_path / "age.key").read_bytes() == b"mine"
    assert names(tmp_path) == ["age.key"]


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "age.key").symlink_to(tmp_path / "elsewhere")

    assert path_exists(tmp_path / "age.key")
    assert not create_file(tmp_path / "age.key", b"new", private=True, tag="1")

    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".age.key.1.stockman-new").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(FileExistsError):
        create_file(tmp_path / "age.key", b"new", private=True, tag="1")

    assert not (tmp_path / "elsewhere").exists()


def test_no_draft_is_left(tmp_path: Path) -> None:
    create_file(tmp_path / "age.key", b"key", private=True, tag="1")

    assert names(tmp_path) == ["age.key"]


def test_drafts_of_an_interrupted_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".age.key.0a.stockman-new").write_bytes(b"half")
    (tmp_path / "stockman-new").write_bytes(b"mine")

    remove_drafts(tmp_path)

    assert names(tmp_path) == ["stockman-new"]


def test_a_directory_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        create_file(tmp_path / "missing" / "age.key", b"key", private=True, tag="1")


def test_a_file_system_without_hard_links_gets_the_file_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "link", no_links)

    file = create_file(tmp_path / "age.key", b"key", private=True, tag="1")

    assert file
    assert mode(tmp_path / "age.key") == 0o600
    assert names(tmp_path) == ["age.key"]


def test_lines_are_added_to_the_end_and_links_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")

    append_bytes(tmp_path / "file", b"two\n")
    with pytest.raises(OSError, match="symbolic links"):
        append_bytes(tmp_path / "link", b"three\n")

    assert (tmp_path / "file").read_bytes() == b"one\ntwo\n"


def test_the_suffix_of_drafts_is_ignored_by_git() -> None:
    from stockman.app.workspace.secret_names import missing_lines

    assert f".*{files.DRAFT_SUFFIX}".encode() in missing_lines(b"").splitlines()
