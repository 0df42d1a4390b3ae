"""A lab is served from one state by one process, and keeps it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.commands.runtime.background import detached
from stockman_lab.commands.runtime.directories import LabFiles, running
from stockman_lab.commands.runtime.remote import ask, tell
from stockman_lab.commands.runtime.serve import LabOptions, SystemAccess, serve
from stockman_lab.commands.runtime.world_options import Manners, wish
from stockman_lab.world.file import read_world

from stockman.model.errors import StockmanError

NETWORKS = iter(f"127.{100 + os.getpid() % 100}.{number}.0/24" for number in range(250))
"""Each in a part of this machine's own addresses that other processes are unlikely to use."""


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 6, 1, 12, tzinfo=UTC)


class Zeros:
    """Dice that fall one way."""

    def random_bytes(self, count: int) -> bytes:
        return bytes(range(count % 256)) if count < 256 else bytes(count)


DOORS = SystemAccess(clock=Noon(), entropy=Zeros())


def wanted(network: str = "", preset: str = "single") -> LabOptions:
    return LabOptions(
        preset=preset,
        network=IPv4Network(network or next(NETWORKS)),
        profile="9.1",
        speed=None,
    )


@contextmanager
def running_lab(files: LabFiles, options: LabOptions) -> Iterator[None]:
    """Serve a lab in a thread until the end of the block."""
    ready = threading.Event()
    troubles: list[BaseException] = []

    def run() -> None:
        try:
            serve(files, options, DOORS, ready.set)
        except BaseException as error:  # noqa: BLE001  # told to the test below
            troubles.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    if troubles:
        thread.join()
        raise troubles[0]
    try:
        yield
    finally:
        tell(files, "down", {})
        thread.join(30)


def environment(files: LabFiles) -> dict[str, str]:
    result = ask(files, "environment")
    assert isinstance(result, dict)
    return result


def test_a_lab_tells_what_it_holds_and_keeps_it(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        value: Any = ask(files, "status")
        assert [host["name"] for host in value["clusters"][0]["hosts"]] == ["pve"]
        assert environment(files)["PROXMOX_VE_ENDPOINT"].endswith(":8006/")
        assert files.run.stat().st_mode & 0o077 == 0
    assert not files.run.exists()
    assert read_world(files.state.read_bytes()).clusters["single"].hosts.keys() == {"pve"}


def test_the_clock_and_faults_are_steered_from_outside(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        before: Any = ask(files, "status")
        after: Any = tell(files, "clock", {"advance": 7200})
        assert before["now"] + 7200 <= after["now"] < before["now"] + 7260
        tell(files, "faults", {"point": "task", "effect": "fail"})
        value: Any = ask(files, "faults")
        assert [one["number"] for one in value] == [1]
        tell(files, "forget", {"number": 1})
        assert ask(files, "faults") == []


def test_a_host_can_lose_its_power(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted(preset="three-node")):
        tell(files, "faults", {"point": "host", "effect": "kill", "match": {"node": "neo"}})
        value: Any = ask(files, "status")
        powers = {host["name"]: host["power"] for host in value["clusters"][0]["hosts"]}
        assert powers == {"trinity": True, "neo": False, "niobe": True}


def test_a_kept_state_is_gone_on_with(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    network = next(NETWORKS)
    with running_lab(files, wanted(network)):
        first = environment(files)["PROXMOX_VE_API_TOKEN"]
    with running_lab(files, wanted(network, preset="home")):
        assert environment(files)["PROXMOX_VE_API_TOKEN"] == first


def test_a_second_one_on_the_same_state_is_refused(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        with pytest.raises(StockmanError, match=r"lab\.running"):
            serve(files, wanted(), DOORS, lambda: None)
        assert ask(files, "status")


def test_one_in_the_background_is_refused_as_well(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        with pytest.raises(StockmanError, match=r"lab\.running"):
            detached(files, wanted())
        assert ask(files, "status")


def test_what_a_killed_lab_left_behind_is_cleared_away(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab[1].state")
    left = tmp_path / "lab[1].state.4711.scratch"
    left.mkdir()
    (left / "upload").write_bytes(b"wool")
    files.run.write_text('{"pid": 4711, "port": 1, "token": "x"}')
    with running_lab(files, wanted()):
        assert running(files).pid == os.getpid()
    assert not left.exists()


def test_a_port_in_use_is_one_clear_sentence(tmp_path: Path) -> None:
    network = next(NETWORKS)
    with running_lab(LabFiles(state=tmp_path / "one.state"), wanted(network)):
        files = LabFiles(state=tmp_path / "two.state")
        with pytest.raises(StockmanError, match=r"lab\.port: 127.*:8006 is in use"):
            serve(files, wanted(network), DOORS, lambda: None)
        assert not files.state.exists()


def test_a_damaged_state_is_refused_and_left_alone(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    files.state.write_bytes(b"wool")
    with pytest.raises(StockmanError, match=r"lab\.state"):
        serve(files, wanted(), DOORS, lambda: None)
    assert files.state.read_bytes() == b"wool"


def test_strangers_are_not_listened_to(tmp_path: Path) -> None:
    import http.client

    files = LabFiles(state=tmp_path / "lab.state")
    with running_lab(files, wanted()):
        connection = http.client.HTTPConnection("127.0.0.1", running(files).port, timeout=10)
        connection.request("POST", "/down", "{}", {"Authorization": "Bearer wool"})
        assert connection.getresponse().status == 401
        connection.close()
        assert ask(files, "status")


def test_repositories_are_kept_by_their_urls(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")
    url = "https://example.com/flock.git"
    made = wish(
        "single", next(NETWORKS), "9.1", "max", Manners(repositories=(f"{url}={tmp_path}",))
    )
    with running_lab(files, made):
        value: Any = ask(files, "status")
        assert value["repositories"] == {url: str(tmp_path)}
    assert read_world(files.state.read_bytes()).repositories == {url: str(tmp_path)}
