"""Where the demo plays, and what is left of it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.places import NoNetwork, end_processes, free_network, scene_of_action

_WAITING = "import sys; sys.stdin.read()"


@pytest.fixture
def waiting() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for one in started:
        one.kill()
        one.communicate()


def begun(name: str) -> subprocess.Popen[bytes]:
    """A process that has something in its command line, and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", _WAITING, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_a_network_in_which_somebody_answers_is_passed_over() -> None:
    with socket.socket() as door:
        door.bind(("127.251.0.3", 8080))
        door.listen()

        assert free_network((251, 252)) == "127.252.0.0/16"


def test_there_may_be_no_network_left() -> None:
    with pytest.raises(NoNetwork):
        free_network(())


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no list of processes")
def test_processes_of_the_directory_are_ended_and_no_others(
    tmp_path: Path, waiting: list[subprocess.Popen[bytes]]
) -> None:
    mine, other = begun(str(tmp_path / "lab.state")), begun("another.state")
    waiting += [mine, other]

    end_processes(tmp_path)

    assert mine.wait(5) != 0
    assert other.poll() is None


def test_nothing_of_the_directory_stays() -> None:
    with scene_of_action(keep=False) as home:
        (home / "k8s").mkdir()

    assert not home.exists()


def test_a_surprise_takes_the_directory_along_although_it_was_to_be_kept() -> None:
    with pytest.raises(KeyboardInterrupt), scene_of_action(keep=True) as home:
        raise KeyboardInterrupt

    assert not home.exists()


def test_what_is_to_be_kept_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scene_of_action(keep=True) as home:
        pass

    assert list(tmp_path.iterdir()) == [home]
