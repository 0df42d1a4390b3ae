"""Where guests are: one that high availability moved is where it should be."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.drift.proxmox import MOVE_TASKS, ProxmoxSide, task_author
from stockman.assessment.drift.report import Correction, Drift, DriftValue, Gap, Layer
from stockman.planning.fact import Unknown


def placement_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Guests on other hosts than the files say."""
    if not side.is_known:
        return
    for wish, guest, _ in side.there():
        if guest.host == wish.host or side.is_looked_after(wish):
            continue
        name = wish.who.name
        tool = "qm" if wish.who.kind == "qemu" else "pct"
        yield Drift(
            layer=Layer.PLACEMENT,
            subject=name,
            what=f"{wish.who.called} is on another host",
            values=(DriftValue(key="host", found=str(guest.host), wanted=str(wish.host)),),
            author=task_author(side.tasks, wish.who.vmid, MOVE_TASKS, side.own_user),
            correction=Correction(
                command=f"bring {guest.host} back; then, on it: {tool} migrate {wish.who.vmid}"
                f" {wish.host}"
            ),
            claims=(f"vms/move/{name}", f"vms/carry/{name}"),
        )


def placement_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Pools and high availability that could not be read."""
    for one in (side.seen.ha, side.seen.pools):
        if isinstance(one, Unknown):
            yield Gap(layer=Layer.PLACEMENT, subject=side.seen.name, problem=one.problem)
