"""Worlds of the lab with Talos machines, served by a thread, and talosctl that talks to them."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path
from subprocess import CompletedProcess, run

from stockman_lab.core.dice import Dice
from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.testing.thread import LabThread, ProxmoxLab
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.model.secret import Secret
from tools.pytest_plugin import RealTool

Answer = CompletedProcess[str]
VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
"""The schematic of nothing."""
_NETWORK = IPv4Network("127.82.0.0/16")
_PATIENCE = 120
_DAY = timedelta(days=1)


def now() -> datetime:
    """The moment by the clock of the client."""
    return datetime.now(UTC)  # noqa: TID251  # the program verifies certificates by it


@cache
def _file(preset: str, version: str, bootstrap: bool) -> bytes:
    moment = now()
    world = preset_world(PresetOptions(preset, _NETWORK, now=float(int(moment.timestamp()))))
    staging = Staging(
        preset=preset,
        network=_NETWORK,
        talos_version=version,
        real_now=moment - timedelta(hours=1),
        bootstrap=bootstrap,
    )
    stage_cluster(world, staging)
    return world_file(world.state)


def staged(preset: str, version: str, *, bootstrap: bool = True) -> World:
    """A world of a preset, made once for each version."""
    return World(read_world(_file(preset, version, bootstrap)))


@dataclass
class Talosctl:
    """One release of the program, with a talosconfig."""

    program: Path
    version: str
    home: Path
    endpoint: str
    nodes: str
    who: str = ""
    """Text of a talosconfig; empty: there is none."""
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.home / "talosconfig").write_text(self.who)

    def __call__(self, *arguments: str | Path, nodes: str = "") -> Answer:
        """What it answers to a command, sent to its nodes."""
        config = str(self.home / "talosconfig")
        command = [str(self.program), "--talosconfig", config, *map(str, arguments)]
        command[1:1] = ["-n", nodes or self.nodes]
        return run(
            command,
            cwd=self.home,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
            env={**os.environ, "HOME": str(self.home), **self.environment},
        )


@dataclass
class Lab:
    """A world that is served, and who talks to it."""

    served: ProxmoxLab
    scratch: Path
    real_tool: RealTool
    server: str
    """Which Talos its machines ran at first."""

    @property
    def world(self) -> World:
        return self.served.world

    def machine(self, place: int = 0) -> Machine:
        """A machine by its place in the preset."""
        return self.world.talos.machines[place]

    @property
    def addresses(self) -> list[str]:
        return [machine.address for machine in self.world.talos.machines]

    @property
    def etcd(self) -> EtcdCluster:
        """The only etcd cluster."""
        (etcd_cluster,) = self.world.state.talos.etcd.values()
        return etcd_cluster

    def switch_off(self, place: int) -> None:
        """Take the power of a machine."""
        machine = self.machine(place)
        self.served.run(lambda: self.world.talos.power_off(machine))

    def settle(self) -> None:
        """Let everything happen that is on its way."""
        self.served.settle()

    def talosctl(
        self, version: str, *roles: str, place: int = 0, is_expired: bool = False
    ) -> Talosctl:
        """A release of talosctl for somebody with roles; an admin without."""
        home = self.scratch / f"home-{version}-{'-'.join(roles).replace(':', '-')}-{place}"
        home.mkdir(exist_ok=True)
        address = self.machine(place).address
        talosconfig = self.talosconfig(address, roles or ("os:admin",), is_expired=is_expired)
        program = self.real_tool(f"talosctl@{version}")
        return Talosctl(program, version, home, address, address, talosconfig)

    def talosconfig(self, endpoint: str, roles: tuple[str, ...], *, is_expired: bool) -> str:
        """A talosconfig of somebody with roles. Empty: the cluster has no authority yet."""
        config = next(
            (machine.config for machine in self.world.talos.machines if machine.config), None
        )
        if config is None:
            return ""
        start = now() - (2 * _DAY if is_expired else _DAY / 24)
        period = ValidityPeriod.lasting(start, _DAY)
        leaf = CertificateRequest(period=period, purposes=(Purpose.CLIENT,), organizations=roles)
        authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
        certificate_and_key = issue_certificate(authority, leaf, Dice(7, 0).random_bytes)
        ca, crt, key = (
            base64.b64encode(text.encode()).decode()
            for text in (
                config.os_ca.crt,
                certificate_and_key.crt,
                certificate_and_key.key.reveal(),
            )
        )
        return (
            "context: lab\ncontexts:\n  lab:\n"
            f"    endpoints: [{endpoint}]\n    ca: {ca}\n    crt: {crt}\n    key: {key}\n"
        )


@contextmanager
def served(world: World, scratch: Path, real_tool: RealTool) -> Iterator[Lab]:
    """A world that answers on its loopback addresses."""
    thread = LabThread(world, scratch, now(), port=0)
    server = world.talos.machines[0].version.removeprefix("v")
    try:
        yield Lab(thread.start(), scratch, real_tool, server)
    finally:
        thread.stop()


def stage_of(machine: Machine) -> Stage:
    """Where a machine is now."""
    return machine.state.stage


def together(*calls: Callable[[], Answer]) -> list[Answer]:
    """Answers to commands that do not touch each other, asked at once."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def succeeded(answer: Answer) -> Answer:
    """An answer of a command that worked."""
    assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-2000:]
    return answer


def refused(answer: Answer, *texts: str) -> None:
    """A command that failed, with words that real machines use."""
    assert answer.returncode == 1, answer.stdout[-2000:] + answer.stderr[-2000:]
    for text in texts:
        assert text in answer.stderr
