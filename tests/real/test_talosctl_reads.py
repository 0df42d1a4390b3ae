"""Every talosctl reads machines of its own version: what it prints is what is expected.

Expected texts are files of `golden/talosctl`, whose first lines name where each column and text
comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT, CompletedProcess, Popen
from threading import Timer

import pytest

from tests.real.talosctl_reads import Reads, golden, normalised, reading
from tests.real.terminal import drawn

VERSIONS = {
    "1.11.5": "127.111.0.0/16",
    "1.12.1": "127.112.0.0/16",
    "1.13.9": "127.113.0.0/16",
    "1.14.1": "127.114.0.0/16",
}
AT_ONCE = 4
PATIENCE = 30.0
COMMANDS: dict[str, tuple[str, ...]] = {
    "version": ("version",),
    "services": ("services",),
    "service": ("service", "etcd"),
    "service-unknown": ("service", "nobody"),
    "logs": ("logs", "kubelet"),
    "logs-unknown": ("logs", "nobody"),
    "dmesg": ("dmesg",),
    "memory": ("memory",),
    "processes": ("processes",),
    "read": ("read", "/etc/hostname"),
    "read-missing": ("read", "/nowhere"),
    "read-directory": ("read", "/etc"),
    "time": ("time",),
    "time-check": ("time", "--check", "127.0.0.9"),
    "health": ("health", "--server=true"),
    "disks": ("disks",),
}
ONLY_FIRST = {"dmesg": 8, "processes": 1}
"""Lines that are compared, of outputs that are long."""

Answers = dict[str, "CompletedProcess[str]"]


@pytest.fixture(scope="module", params=list(VERSIONS))
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def reads(
    version: str,
    tmp_path_factory: pytest.TempPathFactory,
    real_tool: Callable[[str], Path],
) -> Iterator[Reads]:
    scratch = tmp_path_factory.mktemp("reads")
    with reading(scratch, real_tool(f"talosctl@{version}"), version, VERSIONS[version]) as found:
        yield found


@pytest.fixture(scope="module")
def answers(reads: Reads) -> Answers:
    """What is printed by all commands; they run beside each other, as none changes anything."""

    def asked(name: str) -> CompletedProcess[str]:
        return reads.ask(*(one.replace("NAME", reads.hostname) for one in COMMANDS[name]))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(COMMANDS, pool.map(asked, COMMANDS), strict=True))


@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_prints_what_is_expected(
    version: str, reads: Reads, answers: Answers, name: str
) -> None:
    answer = answers[name]
    found = normalised(answer.stdout + answer.stderr, reads.hostname)
    if name in ONLY_FIRST:
        found = "".join(found.splitlines(keepends=True)[: ONLY_FIRST[name]])
    expected = golden(name, version.rpartition(".")[0])
    assert (found, answer.returncode) == (expected.text, expected.code)


def test_several_nodes_are_asked_at_once(reads: Reads) -> None:
    found = reads.ask("memory", "-n", ",".join(reads.addresses[1:]))
    assert found.returncode == 0
    rows = found.stdout.splitlines()[1:]
    assert {row.split()[0] for row in rows} == set(reads.addresses)


def test_events_are_followed(reads: Reads) -> None:
    with following(reads, "events", "--tail", "2") as line:
        lines = [line() for _ in range(5)]
    assert lines[0].split() == ["NODE", "ID", "EVENT", "ACTOR", "SOURCE", "MESSAGE"]
    assert lines[3].split()[0] == reads.address
    assert lines[3].split()[2] == "talos/runtime/machine.MachineStatusEvent"
    assert "ready: true, unmet conditions: []" in lines[4]


def test_a_log_is_followed(reads: Reads) -> None:
    with following(reads, "logs", "machined", "-f", "--tail", "1") as line:
        first = line()
        assert reads.ask("service", "kubelet", "restart").returncode == 0
        second = line()
    assert first.startswith(f"{reads.address}: ")
    assert "[talos] service[kubelet](Stopping)" in second


@contextmanager
def following(reads: Reads, *arguments: str) -> Iterator[Callable[[], str]]:
    """A program that does not end by itself: the next line that it prints."""
    with Popen(reads.command(*arguments), stdout=PIPE, stderr=STDOUT, text=True) as program:
        stdout = program.stdout
        assert stdout is not None
        ending = Timer(PATIENCE, program.kill)
        ending.start()
        try:
            yield stdout.readline
        finally:
            ending.cancel()
            program.kill()


def test_the_dashboard_draws(version: str, reads: Reads) -> None:
    title = f"{reads.hostname} (v{version})"
    newer = f"{reads.hostname} Talos (v{version})"

    def is_done(screen: str) -> bool:
        return (title in screen or newer in screen) and "uptime" in screen and "GiB RAM" in screen

    screen = drawn(reads.command("dashboard"), is_done, patience=30.0)
    assert is_done(screen), screen
    assert "Logs" in screen
