import os
from pathlib import Path

import pytest

from tools.command import CommandRunner
from tools.errors import ToolError
from tools.progress import Progress


class Listener(Progress):
    """Keeps what is said, and lets the command end once it has been called still running."""

    def __init__(self, release: Path) -> None:
        super().__init__("thing")
        self.said: list[str] = []
        self._release = release

    def say(self, text: str) -> None:
        self.said.append(text)
        if len(self.said) == 2:
            self._release.write_text("go\n")


@pytest.fixture
def runner(tmp_path: Path) -> CommandRunner:
    release = tmp_path / "release"
    os.mkfifo(release)
    return CommandRunner(
        log=tmp_path / "logs" / "thing.log",
        progress=Listener(release),
        environment={"PATH": os.defpath},
        still_running_seconds=0.01,
    )


def test_a_long_command_is_said_to_be_still_running(runner: CommandRunner, tmp_path: Path) -> None:
    runner.run("building", ["sh", "-c", "read word < release"], tmp_path)

    assert isinstance(runner.progress, Listener)
    assert runner.progress.said[:2] == ["still building", "still building"]


def test_output_is_returned_and_complaints_go_to_the_log(
    runner: CommandRunner, tmp_path: Path
) -> None:
    printed = runner.run("printing", ["sh", "-c", "echo answer; echo aside >&2"], tmp_path)

    assert printed == "answer\n"
    assert runner.log.read_text() == "$ sh -c echo answer; echo aside >&2\naside\n"


def test_a_failure_shows_only_what_its_own_command_wrote(
    runner: CommandRunner, tmp_path: Path
) -> None:
    runner.run("printing", ["sh", "-c", "echo earlier >&2"], tmp_path)

    with pytest.raises(ToolError) as caught:
        runner.run("printing", ["sh", "-c", "echo printed; echo aside >&2; exit 7"], tmp_path)

    first, *shown, log = str(caught.value).splitlines()
    assert first.endswith("exited with status 7")
    assert shown == ["  aside", "  printed"]
    assert log == f"  full log: {runner.log}"
