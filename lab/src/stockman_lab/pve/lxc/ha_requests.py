"""Requests about containers that high availability manages: only a wish is written down."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import ha_manager
from stockman_lab.pve.errors import die
from stockman_lab.pve.workers import Job, Work, register

_SECONDS = (0.5, 1.0)


class _Request(Work):
    state: ClassVar[str] = ""
    said: ClassVar[str] = ""

    def begin(self, job: Job) -> float:
        return job.cluster.around.dice.between(*_SECONDS)

    def finish(self, job: Job) -> None:
        vmid, target = job.number("vmid"), job.text("target")
        job.log(self.said.format(vmid=vmid, target=target))
        section = job.cluster.state.ha_resources.get(f"ct:{vmid}")
        if section is None:
            raise die(f"no such resource 'ct:{vmid}'")
        if self.state:
            section.options["state"] = self.state
            job.cluster.changed()
        timeout = job.number("timeout") if "timeout" in job.arguments else 60
        ha_manager.notice(job.cluster, vmid, target=target, timeout=timeout)


@register
class HaStart(_Request):
    """Asks for a container that runs."""

    name: ClassVar[str] = "lxc.ha-start"
    state: ClassVar[str] = "started"
    said: ClassVar[str] = "Requesting HA start for CT {vmid}"


@register
class HaStop(_Request):
    """Asks for a container that does not run."""

    name: ClassVar[str] = "lxc.ha-stop"
    state: ClassVar[str] = "stopped"
    said: ClassVar[str] = "Requesting HA stop for CT {vmid}"


@register
class HaMigrate(_Request):
    """Asks for a container on another host."""

    name: ClassVar[str] = "lxc.ha-migrate"
    said: ClassVar[str] = "Requesting HA migration for CT {vmid} to node {target}"
