"""Files that take the place of others."""

import os
import stat
from pathlib import Path

import pytest

from stockman.adapters.files import replace_file, replace_private_file


def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("old")

    replace_file(path, b"new", tag="1")

    assert path.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["cluster.yaml"]


def test_rights_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("old")
    path.chmod(0o600)

    replace_file(path, b"new", tag="1")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)

    replace_file(link, b"new", tag="1")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_cannot_be_replaced_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml" / "inside").mkdir(parents=True)

    with pytest.raises(OSError, match=r"cluster\.yaml"):
        replace_file(tmp_path / "cluster.yaml", b"new", tag="1")

    assert [path.name for path in tmp_path.iterdir()] == ["cluster.yaml"]


def test_files_that_a_killed_process_left_are_swept_and_those_of_a_running_one_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kubeconfig"
    old, whole, fresh, other = (
        tmp_path / name
        for name in (
            ".kubeconfig.1.stockman-new",
            ".kubeconfig.2.whole.stockman-new",
            ".kubeconfig.3.whole.stockman-new",
            ".talosconfig.1.stockman-new",
        )
    )
    for draft in (old, whole, fresh, other):
        draft.write_text("key")
    for draft in (old, whole, other):
        os.utime(draft, (0, 0))

    replace_private_file(path, b"new", tag="4")

    assert {file.name for file in tmp_path.iterdir()} == {path.name, fresh.name, other.name}
