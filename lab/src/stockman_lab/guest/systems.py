"""Which system boots from which disk: decided by what its bytes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from stockman_lab.core.state import state
from stockman_lab.guest.first_boot import FirstBoot, first_boot
from stockman_lab.guest.links import Link, links, links_after_change
from stockman_lab.guest.system import AgentError, Throws
from stockman_lab.guest.view import GuestView

if TYPE_CHECKING:
    from stockman_lab.guest.system import GuestSystem
    from stockman_lab.guest.view import GuestView

NAME, VERSION = "Stockman Lab Linux", "1"
KERNEL = "6.12.0-lab"
KERNEL_VERSION = "#1 SMP PREEMPT_DYNAMIC"


@dataclass(slots=True, kw_only=True)
class Inside:
    """What the agent knows of it."""

    hostname: str = "localhost"
    machine: str = "x86_64"
    links: list[Link] = field(default_factory=list)
    started_at: float = 0.0


Answer: TypeAlias = Callable[[Inside, float], object]

_VERSION = "9.2.0"
_LOOPBACK = Link(name="lo", mac="00:00:00:00:00:00", addresses=["127.0.0.1/8", "::1/128"])


def answer(inside: Inside, command: str, now: float) -> object:
    """Answer a command without the `guest-` in front of it."""
    answers = _ANSWERS.get(command)
    if answers is None:
        raise AgentError(f"The command guest-{command} has not been found", "CommandNotFound")
    return answers(inside, now)


def _empty_answer(inside: Inside, now: float) -> object:
    del inside, now
    return {}


def _info(inside: Inside, now: float) -> object:
    del inside, now
    commands = [
        {"name": f"guest-{name}", "enabled": True, "success-response": name != "shutdown"}
        for name in sorted(_ANSWERS)
    ]
    return {"version": _VERSION, "supported_commands": commands}


def _interfaces(inside: Inside, now: float) -> object:
    seconds = int(now - inside.started_at)
    return [_interface(link, seconds) for link in (_LOOPBACK, *inside.links)]


def _interface(link: Link, seconds: int) -> dict[str, object]:
    interface: dict[str, object] = {"name": link.name, "hardware-address": link.mac}
    if link.addresses:
        interface["ip-addresses"] = [_address(address) for address in link.addresses]
    packets = seconds * 3 if link.is_up else 0
    interface["statistics"] = {
        "rx-bytes": packets * 180,
        "rx-packets": packets,
        "rx-errs": 0,
        "rx-dropped": 0,
        "tx-bytes": packets * 120,
        "tx-packets": packets,
        "tx-errs": 0,
        "tx-dropped": 0,
    }
    return interface


def _address(text: str) -> dict[str, object]:
    found = ip_interface(text)
    return {
        "ip-address": str(found.ip),
        "ip-address-type": f"ipv{found.version}",
        "prefix": found.network.prefixlen,
    }


def _os(inside: Inside, now: float) -> object:
    del now
    return {
        "kernel-release": KERNEL,
        "kernel-version": KERNEL_VERSION,
        "machine": inside.machine,
        "id": "stockman-lab",
        "name": NAME,
        "pretty-name": f"{NAME} {VERSION}",
        "version": VERSION,
        "version-id": VERSION,
    }


_ANSWERS: dict[str, Answer] = {
    "ping": _empty_answer,
    "shutdown": _empty_answer,
    "info": _info,
    "network-get-interfaces": _interfaces,
    "get-osinfo": _os,
    "get-host-name": lambda inside, _now: {"host-name": inside.hostname},
    "get-time": lambda _inside, now: int(now * 1_000_000_000),
}


_AGENT_UP = (15.0, 40.0)
_HEARS_BUTTON_AFTER = 6.0
"""Seconds after power on: before that there is nobody to hear it."""
_SHUTDOWN = (5.0, 15.0)
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(slots=True)
class PlainGuest:
    """A plain Linux, from boot to shutdown."""

    kind: ClassVar[str] = "plain"

    started_at: float = 0.0
    agent_at: float = 0.0
    """When the agent begins to answer."""
    inside: Inside = field(default_factory=Inside)

    def booted(self, view: GuestView, now: float, dice: Throws) -> None:
        said = first_boot(view.cloud_init) if view.cloud_init is not None else FirstBoot()
        self.started_at = now
        self.agent_at = now + dice.between(*_AGENT_UP)
        self.inside = Inside(
            hostname=said.hostname or self.inside.hostname,
            machine=_MACHINES[view.architecture],
            links=links(view, said.links),
            started_at=now,
        )

    def changed(self, view: GuestView, now: float) -> None:
        del now
        self.inside.links = links_after_change(view, self.inside.links)

    def shutdown(self, now: float, dice: Throws) -> float | None:
        if now - self.started_at < _HEARS_BUTTON_AFTER:
            return None
        return dice.between(*_SHUTDOWN)

    def lost_power(self, now: float) -> None:
        del now

    def agent_is_up(self, now: float) -> bool:
        return now >= self.agent_at

    def ask(self, command: str, arguments: Mapping[str, object], now: float) -> object:
        if not self.agent_is_up(now):
            raise AgentError("the agent is not there yet")
        del arguments
        return answer(self.inside, command, now)

    def saved(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def loaded(cls, saved: Mapping[str, Any]) -> PlainGuest:
        """The guest that was saved."""
        inside = Inside(**saved["inside"])
        inside.links = [Link(**link) for link in saved["inside"]["links"]]
        return cls(saved["started_at"], saved["agent_at"], inside)


_KIND = "kind"


@state
class Systems:
    """All systems that a lab knows; what is bootable and nobody's is a plain Linux."""

    platforms: dict[str, Callable[[], GuestSystem]] = field(default_factory=dict)
    """By platform of an image."""
    kinds: dict[str, Callable[[Mapping[str, object]], GuestSystem]] = field(default_factory=dict)
    """How what was saved is loaded, by kind."""

    def register(
        self,
        kind: str,
        platforms: tuple[str, ...],
        make: Callable[[], GuestSystem],
        load: Callable[[Mapping[str, object]], GuestSystem],
    ) -> None:
        """Let a system boot from images of some platforms."""
        self.kinds[kind] = load
        for platform in platforms:
            self.platforms[platform] = make

    def __call__(self, platform: str) -> GuestSystem:
        """What boots from a bootable image of a platform."""
        return self.platforms.get(platform, _plain())()

    def booting(self, view: GuestView) -> GuestSystem | None:
        """What boots in a machine. None: nothing does, its screen stays black."""
        disk = view.boot_disk
        if disk is None:
            return None
        facts = disk.facts
        if facts is not None and facts.architecture != view.architecture:
            return None
        return self(facts.platform if facts is not None else "")

    def saved(self, system: GuestSystem) -> dict[str, object]:
        """A system as JSON, with the name of its kind."""
        return {_KIND: system.kind, **system.saved()}

    def loaded(self, saved: Mapping[str, object]) -> GuestSystem | None:
        """The system that was saved. None: nothing was."""
        if not saved:
            return None
        values = {name: value for name, value in saved.items() if name != _KIND}
        kind = str(saved[_KIND])
        return self.kinds[kind](values) if kind in self.kinds else _plain().loaded(values)

    def lost_power(self, saved: Mapping[str, object], now: float) -> None:
        """Tell what ran in a machine that its power is gone."""
        system = self.loaded(saved) if saved else None
        if system is not None:
            system.lost_power(now)


def _plain() -> type[PlainGuest]:
    """Imported when the first machine boots: a lab starts without."""
    return PlainGuest
