"""Labs with a Talos cluster that real programs ask, and what they print, compared with files.

A file of `golden/talosctl` begins with lines that say where each text and column comes from. Below
them is what has to be printed, after everything that moves was replaced: addresses, moments, ages,
sizes, numbers and identities; blanks between columns count as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Network
from itertools import groupby
from pathlib import Path
from subprocess import CompletedProcess, run

from stockman_lab.servers.machines import talosconfig_of
from stockman_lab.testing.thread import LabThread, ProxmoxLab
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

GOLDEN = Path(__file__).parent / "golden" / "talosctl"
PRESET = "three-node"
_EARLIER = 900.0
_PATIENCE = 60.0
_CODE = "# exit code: "
_BELOW = "└─"
_MOVES = (
    (
        re.compile(r"(?<=/)(cilium(?:-envoy|-operator)?)(?:-[a-z0-9]{8,10})?-[a-z0-9]{5}\b"),
        r"\1-RANDOM",
    ),
    (re.compile(r"(?!0\.0\.0\.0|127\.0\.0\.)\b\d+\.\d+\.\d+\.\d+"), "ADDRESS"),
    (re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ][\d:.]+(Z| \+0000 UTC)?"), "MOMENT"),
    (re.compile(r"[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"), "MOMENT"),
    (re.compile(r"(\d+h)?(\d+m)?\d+s ago"), "AGE"),
    (re.compile(r"\bgo1\.[\d.]+"), "GO"),
    (re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+(-talos)?(?![\w.])"), "VERSION"),
    (re.compile(r'(?<="ts":)[\d.]+'), "MOMENT"),
    (re.compile(r"\b[0-9a-f]{8,64}\b"), "IDENTITY"),
    (re.compile(r"(?<!\w)(\d+m)?\d+(\.\d+)?(ms|µs|m|s)(?!\w)"), "N"),
    (re.compile(r"(?<![\w:.])\d+(\.\d+)?( [kMG]i?B|%|K)?(?![\w.])"), "N"),
)


@dataclass(frozen=True)
class Reads:
    """A served cluster of one version, and the program that asks it."""

    lab: ProxmoxLab
    program: Path
    talosconfig: Path
    address: str
    """Of the machine that is asked."""
    hostname: str
    addresses: tuple[str, ...]

    def command(self, *arguments: str) -> list[str]:
        asked = [str(self.program), "--talosconfig", str(self.talosconfig), "-n", self.address]
        return [*asked, *arguments]

    def ask(self, *arguments: str) -> CompletedProcess[str]:
        """What the program prints and how it ends."""
        return run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )


@contextmanager
def reading(scratch: Path, program: Path, version: str, network: str) -> Iterator[Reads]:
    """A cluster of a version that is up, on addresses of its own."""
    now = datetime.now(UTC)  # noqa: TID251  # the programs verify certificates by it
    wished = PresetOptions(PRESET, IPv4Network(network), now=now.timestamp() - _EARLIER)
    world = preset_world(wished)
    stage_cluster(
        world,
        Staging(preset=PRESET, network=wished.network, talos_version=version, bootstrap=True),
    )
    lab = LabThread(world, scratch, now, port=0)
    served = lab.start()
    try:
        path = scratch / "talosconfig"
        path.write_text(talosconfig_of(world, now), encoding="utf-8")
        first = world.talos.machines[0]
        addresses = tuple(machine.address for machine in world.talos.machines)
        yield Reads(served, program, path, first.address, first.hostname, addresses)
    finally:
        lab.stop()


def normalised(text: str, hostname: str = "") -> str:
    """What is left of a text when everything that moves is replaced."""
    found = text.replace(hostname, "NAME") if hostname else text
    for pattern, word in _MOVES:
        found = pattern.sub(word, found)
    lines = [" ".join(line.split()) for line in found.strip().splitlines()]
    return "\n".join(_arranged(lines)) + "\n"


def _arranged(lines: list[str]) -> Iterator[str]:
    """The same lines, with pods whose names are random in the order of what is not random."""
    blocks: list[list[str]] = []
    for line in lines:
        if _BELOW in line and blocks:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    for is_random, several in groupby(blocks, lambda block: "-RANDOM" in block[0]):
        for block in sorted(several) if is_random else several:
            yield from block


@dataclass(frozen=True)
class Golden:
    """What has to be printed, and how the program has to end."""

    text: str
    code: int


def golden(name: str, minor: str) -> Golden:
    """What belongs to a command; a minor may have a file of its own."""
    own = GOLDEN / f"{name}.{minor}.txt"
    path = own if own.exists() else GOLDEN / f"{name}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    code = next(line for line in lines if line.startswith(_CODE)).removeprefix(_CODE)
    text = "\n".join(_arranged([line for line in lines if not line.startswith("# ")])) + "\n"
    return Golden(text, int(code))
