"""The directory and the network of the demo, and the processes that it stops."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.sandbox import NoFreeNetwork, end_processes, free_network, temporary_home

_WAIT = "import sys; sys.stdin.read()"


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start_process(argument: str) -> subprocess.Popen[bytes]:
    """Start a process that has an argument in its command line, and waits."""
    return subprocess.Popen(
        [sys.executable, "-c", _WAIT, argument], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_a_network_with_a_used_port_is_skipped() -> None:
    with socket.socket() as listener:
        listener.bind(("127.251.0.3", 8080))
        listener.listen()

        with free_network((251, 252)) as network:
            assert network == "127.252.0.0/16"


def test_a_network_of_another_demo_is_skipped() -> None:
    with free_network((253, 254)) as first, free_network((253, 254)) as second:
        assert (first, second) == ("127.253.0.0/16", "127.254.0.0/16")
    with free_network((253, 254)) as again:
        assert again == first


def test_it_is_an_error_if_no_network_is_free() -> None:
    with pytest.raises(NoFreeNetwork), free_network(()):
        pass


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no list of processes")
def test_only_processes_of_the_directory_are_stopped(
    tmp_path: Path, processes: list[subprocess.Popen[bytes]]
) -> None:
    own, unrelated = start_process(str(tmp_path / "lab.state")), start_process("another.state")
    processes += [own, unrelated]

    end_processes(tmp_path)

    assert own.wait(5) != 0
    assert unrelated.poll() is None


def test_the_directory_is_deleted() -> None:
    with temporary_home(keep=False) as home:
        (home / "k8s").mkdir()

    assert not home.exists()


def test_an_interruption_deletes_the_directory_even_if_it_should_be_kept() -> None:
    with pytest.raises(KeyboardInterrupt), temporary_home(keep=True) as home:
        raise KeyboardInterrupt

    assert not home.exists()


def test_the_directory_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_home(keep=True) as home:
        pass

    assert list(tmp_path.iterdir()) == [home]
