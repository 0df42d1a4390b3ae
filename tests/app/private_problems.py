"""Problems of files with secrets, made in a directory of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stockman.app.workspace.private_files import write_private
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem

FILE = Path("work-1.iso")


class Counted:
    """`ports.Entropy` that counts."""

    def random_bytes(self, count: int) -> bytes:
        return bytes(range(count))


def refused(prepare: Callable[[], object], file: Path = FILE) -> Problem:
    """What is said of a file in a fresh directory."""
    with TemporaryDirectory() as directory, chdir(directory):
        prepare()
        with pytest.raises(StockmanError) as caught:
            write_private(file, b"", Counted())
    return caught.value.problem


def repository() -> None:
    subprocess.run(["git", "init", "--quiet", "."], check=True)


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "private-file.exists": lambda: refused(lambda: FILE.write_text("")),
    "private-file.tracked": lambda: refused(repository),
    "private-file.unwritable": lambda: refused(lambda: None, Path("images") / FILE),
}
