"""The editor that a user has chosen, and files in memory for it."""

import os
import stat
from pathlib import Path

import pytest

from stockman.adapters.files import ram_directories, ram_file
from stockman.adapters.programs import ProgramEditor
from stockman.ports.environment import NoAnswer


@pytest.mark.parametrize(
    "environment",
    [
        {"SOPS_EDITOR": "sed -i s/a/b/", "VISUAL": "false", "EDITOR": "false"},
        {"SOPS_EDITOR": " ", "VISUAL": "sed -i 's/a/b/'", "EDITOR": "false"},
        {"EDITOR": "sed -i s/a/b/"},
    ],
)
def test_the_first_that_is_named_is_run(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "file").write_text("a")

    ProgramEditor(environment).edit(tmp_path / "file")

    assert (tmp_path / "file").read_text() == "b"


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"EDITOR": "false"}, "false exited with status 1"),
        ({"EDITOR": "/no/such/editor"}, "cannot be run: No such file"),
        ({"EDITOR": "vi 'open"}, r"\$EDITOR contains an unclosed quote"),
        ({}, "there is no terminal"),
    ],
)
def test_what_is_wrong_with_an_editor_is_told(
    tmp_path: Path, environment: dict[str, str], why: str
) -> None:
    with pytest.raises(NoAnswer, match=why):
        ProgramEditor(environment).edit(tmp_path / "file")


def test_a_file_in_memory_is_for_its_owner_only() -> None:
    with ram_file(ram_directories(), "secret.yaml", "00aa") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert path.parent.name == f"stockman-edit-{os.getpid()}-00aa"

    assert not path.parent.exists()


def test_it_is_gone_when_the_work_is_interrupted() -> None:
    used: list[Path] = []

    def interrupted() -> None:
        with ram_file(ram_directories(), "secret.yaml", "00ab") as path:
            used.append(path)
            path.write_text("canary")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert not used[0].parent.exists()


def test_a_disk_is_no_memory(tmp_path: Path) -> None:
    with (
        pytest.raises(NoAnswer, match="no writable file system in memory"),
        ram_file([Path("/proc"), tmp_path / "none"], "secret.yaml", "00ac"),
    ):
        pass


def test_the_directory_of_the_user_is_tried_last() -> None:
    assert ram_directories("/run/user/1") == (Path("/dev/shm"), Path("/run/user/1"))
