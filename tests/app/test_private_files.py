"""Files with secrets in the clear."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from stockman.app.workspace.private_files import write_private
from stockman.model.errors import Refused
from tests.app.private_problems import Counted


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    write_private(tmp_path / "a.iso", b"content", Counted())

    assert (tmp_path / "a.iso").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "a.iso").stat().st_mode) == 0o600


def test_a_file_that_git_ignores_may_be_written(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("*.iso\n")

    write_private(tmp_path / "a.iso", b"", Counted())

    with pytest.raises(Refused, match=r"private-file\.tracked"):
        write_private(tmp_path / "a.img", b"", Counted())
    assert not (tmp_path / "a.img").exists()
