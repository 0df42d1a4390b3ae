"""What a user asks a lab for, read and checked."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from pathlib import Path

from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman_lab.commands.runtime.serve import CLUSTER, HOSTS, LabOptions

_LOOPBACK = IPv4Network("127.0.0.0/8")
_LONGEST_PREFIX = 24
_FASTEST = 100_000.0
_WITH_CLUSTER = ("three-node", "fifteen-node", "single")


@record
class Manners:
    """What else a user may ask for."""

    repositories: tuple[str, ...] = ()
    """`URL=PATH` each."""
    slow_refusals: bool = False
    stage: str = HOSTS
    talos: str | None = None
    """`1.13.9`. None: as the preset has it."""


_USUAL = Manners()


def wish(
    preset: str, network: str, profile: str, speed: str, manners: Manners = _USUAL
) -> LabOptions:
    """What is wanted; refuses networks that are not this machine's alone, and odd speeds."""
    if manners.stage == CLUSTER and preset not in _WITH_CLUSTER:
        raise _no_cluster(preset)
    return LabOptions(
        preset=preset,
        network=_network(network),
        profile=profile,
        speed=speed_of(speed),
        slow_refusals=manners.slow_refusals,
        repositories=dict(_repository(repository) for repository in manners.repositories),
        stage=manners.stage,
        talos_version=None if manners.talos is None else _talos(manners.talos),
    )


def speed_of(text: str) -> float | None:
    """Seconds inside for one outside. None: as fast as possible."""
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= _FASTEST:
        raise WrongUsage(
            Problem(
                code="lab.speed",
                what=f"{text!r} is no speed",
                why="a speed is how many seconds pass inside for one outside",
                fix="write a number from above 0 to 100000, or `max`",
            )
        )
    return speed


def _no_cluster(preset: str) -> WrongUsage:
    return WrongUsage(
        Problem(
            code="lab.stage",
            what=f"the preset {preset} has no Talos cluster",
            why=f"its files describe no machines that could run; {_those()} do",
            fix="choose one of those with --preset, or leave --stage out",
        )
    )


def _those() -> str:
    return f"{', '.join(_WITH_CLUSTER[:-1])} and {_WITH_CLUSTER[-1]}"


def _talos(text: str) -> str:
    """A version that machines of the lab can run, without its v."""
    from stockman.model.compatibility import talos_line, talos_lines
    from stockman.model.version import Version
    from stockman_lab.factory.state import FactoryState

    bare = text.removeprefix("v")
    if f"v{bare}" in FactoryState().versions and talos_line(Version.parse(bare)) is not None:
        return bare
    newest = [line.newest.bare for line in talos_lines()]
    raise WrongUsage(
        Problem(
            code="lab.talos",
            what=f"{text!r} is no Talos that machines of the lab run",
            why=f"they run releases of 1.11 to 1.14; the newest known are {', '.join(newest)}",
            fix="write one of those, such as --talos 1.13.9",
        )
    )


def _repository(text: str) -> tuple[str, str]:
    url, equals, path = text.rpartition("=")
    if not equals or not url or not path or not Path(path).is_dir():
        raise WrongUsage(
            Problem(
                code="lab.repository",
                what=f"{text!r} does not say where a repository is",
                why="it has to be a URL, an equals sign, and a directory that exists",
                fix="write --repo https://example.com/flock.git=../flock.git",
            )
        )
    return url, str(Path(path).resolve())


def _network(text: str) -> IPv4Network:
    try:
        ipv4_network = IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        ipv4_network = None
    if (
        ipv4_network is None
        or not ipv4_network.subnet_of(_LOOPBACK)
        or ipv4_network.prefixlen > _LONGEST_PREFIX
    ):
        raise WrongUsage(
            Problem(
                code="lab.network",
                what=f"{text!r} is no network for a lab",
                why="hosts of a lab answer on loopback addresses only, one for each",
                fix="write a network inside 127.0.0.0/8 of /24 or larger, such as 127.66.0.0/16",
            )
        )
    return ipv4_network
