"""Requests about machines that high availability manages: only a wish is written down."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import ha_manager
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.workers import Job, Work, register

_SECONDS = (0.5, 1.0)


def is_managed(cluster: Cluster, vmid: int) -> bool:
    """Whether the manager decides about a machine's power."""
    guest = cluster.state.guests.get(vmid)
    return guest is not None and ha_manager.is_managed(cluster, guest)


class _Request(Work):
    def begin(self, job: Job) -> float:
        return job.cluster.around.dice.between(*_SECONDS)

    def want(self, job: Job, state: str) -> None:
        section = job.cluster.state.ha_resources.get(f"vm:{job.number('vmid')}")
        if section is None:
            raise die(f"no such resource 'vm:{job.number('vmid')}'")
        section.options["state"] = state
        job.cluster.changed()


@register
class HaStart(_Request):
    """Asks for a machine that runs."""

    name: ClassVar[str] = "qemu.ha-start"

    def finish(self, job: Job) -> None:
        job.log(f"Requesting HA start for VM {job.number('vmid')}")
        self.want(job, "started")
        ha_manager.notice(job.cluster, job.number("vmid"))


@register
class HaStop(_Request):
    """Asks for a machine that does not run."""

    name: ClassVar[str] = "qemu.ha-stop"

    def finish(self, job: Job) -> None:
        job.log(f"Requesting HA stop for VM {job.number('vmid')}")
        self.want(job, "stopped")
        ha_manager.notice(job.cluster, job.number("vmid"), timeout=job.number("timeout"))


@register
class HaMigrate(_Request):
    """Asks for a machine on another host."""

    name: ClassVar[str] = "qemu.ha-migrate"

    def finish(self, job: Job) -> None:
        vmid, target = job.number("vmid"), job.text("target")
        job.log(f"Requesting HA migration for VM {vmid} to node {target}")
        ha_manager.notice(job.cluster, vmid, target=target)
