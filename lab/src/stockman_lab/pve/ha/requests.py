"""Requests about guests that high availability manages: only the desired state is written down."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import ha_manager
from stockman_lab.pve.errors import die
from stockman_lab.pve.ha.names import name_of
from stockman_lab.pve.workers import Job, Work, register

_SECONDS = (0.5, 1.0)
_TIMEOUT = 60


class _Request(Work):
    state: ClassVar[str] = ""
    """The desired state. Empty: it stays as it is."""
    line: ClassVar[str]

    def begin(self, job: Job) -> float:
        return job.cluster.around.dice.between(*_SECONDS)

    def finish(self, job: Job) -> None:
        cluster, vmid, target = job.cluster, job.number("vmid"), job.text("target")
        guest = cluster.state.guests.get(vmid)
        section = None if guest is None else ha_manager.resource_of(cluster, guest)
        if guest is None or section is None:
            raise die(f"no such resource '{vmid if guest is None else name_of(guest)}'")
        word = "VM" if guest.kind == "qemu" else "CT"
        job.log(self.line.format(guest=f"{word} {vmid}", target=target))
        if self.state:
            section.options["state"] = self.state
            cluster.changed()
        timeout = job.number("timeout") if "timeout" in job.arguments else _TIMEOUT
        ha_manager.notice(cluster, vmid, target=target, timeout=timeout)


@register
class HaStart(_Request):
    """Desires a guest that runs."""

    name: ClassVar[str] = "ha.start"
    state: ClassVar[str] = "started"
    line: ClassVar[str] = "Requesting HA start for {guest}"


@register
class HaStop(_Request):
    """Desires a guest that does not run."""

    name: ClassVar[str] = "ha.stop"
    state: ClassVar[str] = "stopped"
    line: ClassVar[str] = "Requesting HA stop for {guest}"


@register
class HaMigrate(_Request):
    """Desires a guest on another host."""

    name: ClassVar[str] = "ha.migrate"
    line: ClassVar[str] = "Requesting HA migration for {guest} to node {target}"
