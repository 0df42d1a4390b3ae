"""Containers that start and stop, and their network links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_interface
from typing import ClassVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.guest.network import NicView, link_local, self_made
from stockman_lab.pve import workers
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.nic import ContainerNic, parse_container_nic
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.container_update import apply_container_pending
from stockman_lab.pve.guest_config.context import GuestContext
from stockman_lab.pve.guest_config.keys import index_of, is_indexed
from stockman_lab.pve.guest_rows import note_rounds
from stockman_lab.pve.lxc.volumes import MountMaker, existing, free_all, mounts_of, shelf_of
from stockman_lab.pve.qemu.file_lock import GuestWork, refuse_locked
from stockman_lab.pve.workers import Job, register

_DEFAULT_MTU = 1500
NETWORK_AT = "network_at"
"""When a container brings its links up. Not there: it has."""


@dataclass(slots=True)
class Interface:
    """One link as `ip address` shows it."""

    name: str
    mac: str
    addresses: list[str] = field(default_factory=list)

    def row(self) -> dict[str, object]:
        found: dict[str, object] = {"name": self.name}
        rows = []
        for address in map(ip_interface, self.addresses):
            family = "inet" if address.version == 4 else "inet6"
            found[family] = str(address)
            rows.append(
                {
                    "ip-address": str(address.ip),
                    "ip-address-type": family,
                    "prefix": address.network.prefixlen,
                }
            )
        return {
            **found,
            "ip-addresses": rows,
            "hardware-address": self.mac,
            "hwaddr": self.mac,
        }


def interfaces_of(cluster: Cluster, guest: Guest) -> list[Interface]:
    """The links of a running container, the loopback first."""
    cards = {
        number: parse_container_nic(value)
        for key, value in guest.config.values.items()
        for number in [index_of(key, "net")]
        if number is not None
    }
    interfaces = [Interface("lo", "00:00:00:00:00:00", ["127.0.0.1/8", "::1/128"])]
    if cluster.now < float(str(guest.inside.get(NETWORK_AT, 0.0))):
        return interfaces
    return interfaces + [_interface_of(cluster, number, cards[number]) for number in sorted(cards)]


def _interface_of(cluster: Cluster, number: int, card: ContainerNic) -> Interface:
    options = card.options
    view = NicView(
        number=number,
        mac=card.mac,
        bridge=card.bridge,
        vlan=card.tag,
        model="veth",
        is_linked=not card.is_down,
        mtu=int(options.get("mtu", str(_DEFAULT_MTU))),
    )
    link = Interface(card.name, card.mac.lower())
    if view.is_linked:
        asked = ((options.get("ip", ""), 4), (options.get("ip6", ""), 6))
        addresses = [_address(cluster, view, text, version) for text, version in asked]
        link.addresses = [one for one in (*addresses, link_local(card.mac)) if one]
    return link


def _address(cluster: Cluster, nic: NicView, text: str, version: int) -> str | None:
    network = cluster.around.network
    if text == "dhcp":
        return network.lease(nic, version)
    if text == "auto":
        prefix = network.prefix(nic)
        return None if prefix is None else self_made(prefix, nic.mac)
    return None if text in ("", "manual") else text


_START, _STOP, _SHUTDOWN = (0.5, 2.0), (0.5, 1.5), (1.0, 5.0)
_TIMEOUT = 60
_NOBODY = "startup for container '{vmid}' failed"
_GAVE_UP = "_gave_up"
_FOR_GOOD = 1e12


def power_on(cluster: Cluster, guest: Guest, log: Callable[[str], None]) -> None:
    """Start a container: what waited is applied first."""
    shelf = shelf_of(cluster, guest)
    if guest.config.has_pending:
        context = GuestContext(
            vmid=guest.vmid, running=False, owns=shelf.owns, mounted=MountMaker(shelf)
        )
        outcome = apply_container_pending(guest.config, context)
        for line in outcome.errors.values():
            log(line.strip())
        list(free_all(shelf, outcome.freed))
    failed = _NOBODY.format(vmid=guest.vmid)
    if guest.is_template:
        raise die(failed)  # templates have no configuration that could be started
    for mount in mounts_of(guest.config.values):
        if mount.kind == "volume":
            existing(shelf, mount.volume)
    fault = cluster.fault(Point.BOOT, _facts(guest))
    if fault is not None and fault.effect is Effect.FAIL:
        raise cluster.raise_fault(fault, failed)
    host = shelf.host
    for bridge in _bridges(guest):
        if bridge not in host.interfaces:
            log(f"bridge '{bridge}' does not exist")
            raise die(failed)
    host.next_pid += 1
    note_rounds(cluster, guest)
    guest.status, guest.paused, guest.pid = "running", False, host.next_pid
    guest.started_at = guest.changed_at = cluster.now
    guest.inside = {} if fault is None else {NETWORK_AT: _network_at(cluster, fault)}


def _network_at(cluster: Cluster, fault: Fault) -> float:
    return cluster.now + (fault.seconds if fault.effect is Effect.DELAY else _FOR_GOOD)


def power_off(cluster: Cluster, guest: Guest) -> None:
    """Stop a container at once."""
    note_rounds(cluster, guest)
    guest.status, guest.paused, guest.pid, guest.started_at = "stopped", False, 0, 0.0
    guest.inside = {}
    guest.changed_at = cluster.now


def _bridges(guest: Guest) -> list[str]:
    values = guest.config.values
    cards = (parse_container_nic(values[key]) for key in sorted(values) if is_indexed(key, "net"))
    return [card.bridge for card in cards if card.bridge]


def _facts(guest: Guest) -> dict[str, object]:
    return {"node": guest.node, "vmid": guest.vmid, "name": guest.name}


def seconds_to_shut_down(cluster: Cluster, guest: Guest) -> float | None:
    """How long a container takes once it is asked to stop. None: it does not care."""
    fault = cluster.fault(Point.SHUTDOWN, _facts(guest))
    if fault is not None and fault.effect is Effect.HANG:
        return None
    late = fault.seconds if fault is not None else 0.0
    return cluster.around.dice.between(*_SHUTDOWN) + late


def _skips(job: Job, guest: Guest) -> bool:
    return bool(job.arguments.get("skiplock")) or guest.lock == "mounted"


@register
class Start(GuestWork):
    """Starts a container."""

    name: ClassVar[str] = "lxc.start"

    def check(self, job: Job, guest: Guest) -> float:
        self._check(job, guest)
        return job.cluster.around.dice.between(*_START)

    def do(self, job: Job, guest: Guest) -> None:
        self._check(job, guest)
        power_on(job.cluster, guest, job.log)

    def _check(self, job: Job, guest: Guest) -> None:
        if guest.is_template:
            raise die("you can't start a CT if it's a template")
        refuse_locked(job.cluster, guest, skip=_skips(job, guest))
        if guest.is_running:
            raise die(f"CT {guest.vmid} already running")
        unprivileged = guest.config.values.get("unprivileged") == "1"
        for mount in mounts_of(guest.config.values) if unprivileged else ():
            if mount.options.get("quota") == "1":
                raise die("Quotas are not supported by unprivileged containers.")


@register
class Stop(GuestWork):
    """Kills everything in a container."""

    name: ClassVar[str] = "lxc.stop"

    def begin(self, job: Job) -> float:
        if job.arguments.pop("overrule-shutdown", 0):
            workers.overrule(job, "vzshutdown")
        return super().begin(job)

    def check(self, job: Job, guest: Guest) -> float:
        refuse_locked(job.cluster, guest, skip=_skips(job, guest))
        return job.cluster.around.dice.between(*_STOP)

    def do(self, job: Job, guest: Guest) -> None:
        power_off(job.cluster, guest)


@register
class Shutdown(GuestWork):
    """Asks a container to stop, and waits."""

    name: ClassVar[str] = "lxc.shutdown"
    default_timeout: ClassVar[int] = _TIMEOUT

    def check(self, job: Job, guest: Guest) -> float:
        refuse_locked(job.cluster, guest)
        if not guest.is_running:
            return 0.0
        timeout = job.number("timeout") if "timeout" in job.arguments else self.default_timeout
        seconds = seconds_to_shut_down(job.cluster, guest)
        if seconds is not None and seconds <= timeout:
            return seconds
        job.arguments[_GAVE_UP] = True
        return float(timeout)

    def do(self, job: Job, guest: Guest) -> None:
        if not guest.is_running:
            return
        if job.arguments.get(_GAVE_UP) and not self.kills(job):
            job.log(
                f"command 'lxc-stop -n {guest.vmid} --nokill --timeout"
                f" {job.arguments.get('timeout', self.default_timeout)}' failed: exit code 1"
            )
            raise die("container did not stop")
        power_off(job.cluster, guest)

    def kills(self, job: Job) -> bool:
        """Whether what does not stop is killed."""
        return bool(job.arguments.get("forceStop"))


@register
class Reboot(Shutdown):
    """Stops a container and starts it again: what waited is applied."""

    name: ClassVar[str] = "lxc.reboot"

    def do(self, job: Job, guest: Guest) -> None:
        if guest.is_running:
            super().do(job, guest)
            power_on(job.cluster, guest, job.log)

    def kills(self, job: Job) -> bool:
        del job
        return True
