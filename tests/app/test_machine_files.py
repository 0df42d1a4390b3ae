"""Files of the repository that become part of machine configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.workspace.machine_patches import machine_files
from stockman.model.errors import Refused
from tests.talos.machine.everything import everything

NAMES = ("talos/ca.pem", "talos/client.pem", "talos/hello.yaml")


def write(directory: Path, text: bytes) -> None:
    (directory / "talos").mkdir()
    for name in NAMES:
        (directory / name).write_bytes(text)


def test_every_named_file_is_read(tmp_path: Path) -> None:
    write(tmp_path, b"text\n")

    assert machine_files(tmp_path, everything("1.13")) == dict.fromkeys(NAMES, "text\n")


def test_a_file_that_is_missing_is_left_to_the_machine_that_needs_it(tmp_path: Path) -> None:
    assert machine_files(tmp_path, everything("1.13")) == {}


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    write(tmp_path, b"\xff\xfe")

    with pytest.raises(Refused, match=r"talos\.file"):
        machine_files(tmp_path, everything("1.13"))
