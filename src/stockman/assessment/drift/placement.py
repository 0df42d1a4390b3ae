"""Drift of the placement of guests; hosts chosen by high availability do not count."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.drift.proxmox import MOVE_TASKS, ProxmoxSide, task_author
from stockman.assessment.drift.report import Correction, Drift, DriftValue, Gap, Layer
from stockman.planning.fact import Unknown


def placement_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Return guests that run on another host than configured."""
    if not side.is_known:
        return
    for desired, guest, _ in side.existing_guests():
        if guest.host == desired.host or side.is_managed_by_ha(desired):
            continue
        name = desired.identity.name
        tool = "qm" if desired.identity.kind == "qemu" else "pct"
        yield Drift(
            layer=Layer.PLACEMENT,
            subject=name,
            description=f"{desired.identity.label} is on another host",
            values=(DriftValue(key="host", observed=str(guest.host), desired=str(desired.host)),),
            author=task_author(side.tasks, desired.identity.vmid, MOVE_TASKS, side.own_user),
            correction=Correction(
                command=f"bring {guest.host} back; then, on it:"
                f" {tool} migrate {desired.identity.vmid} {desired.host}"
            ),
            claims=(f"vms/move/{name}", f"vms/carry/{name}"),
        )


def placement_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Return pools and HA settings that could not be read."""
    for observed in (side.observed.ha, side.observed.pools):
        if isinstance(observed, Unknown):
            yield Gap(layer=Layer.PLACEMENT, subject=side.observed.name, problem=observed.problem)
