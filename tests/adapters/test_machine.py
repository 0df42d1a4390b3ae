"""What this machine tells of itself."""

from pathlib import Path

import pytest

from stockman.adapters.system import LocalMachine
from stockman.ports.environment import FileStatus

MACHINE = LocalMachine()


def test_a_file_tells_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "age.key"
    path.write_text("x")
    path.chmod(0o640)

    assert MACHINE.file(path) == FileStatus(mode=0o640, is_file=True, readable=True)


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    facts = MACHINE.file(tmp_path)

    assert facts is not None
    assert not facts.is_file


@pytest.mark.parametrize("name", ["missing", "missing/below", "nul\0byte", "x" * 5000])
def test_what_is_not_there_has_no_facts_and_no_content(tmp_path: Path, name: str) -> None:
    assert MACHINE.file(tmp_path / name) is None
    assert MACHINE.read(tmp_path / name) is None


def test_a_small_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(b"text")

    assert MACHINE.read(path) == b"text"
    assert MACHINE.read(tmp_path) is None


def test_a_directory_tells_its_room(tmp_path: Path) -> None:
    room = MACHINE.space(tmp_path)

    assert room is not None
    assert room.free > 0
    assert room.writable
    assert MACHINE.space(tmp_path / "missing") is None


def test_the_rest_is_as_the_process_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKMAN_TEST", "here")
    monkeypatch.setenv("TMPDIR", "/somewhere")
    monkeypatch.setattr("tempfile.tempdir", None)

    assert MACHINE.variable("STOCKMAN_TEST") == "here"
    assert MACHINE.variable("STOCKMAN_TEST_MISSING") == ""
    assert MACHINE.temporary() == Path("/somewhere")
    assert MACHINE.python().startswith("3.")
    assert MACHINE.encoding()
