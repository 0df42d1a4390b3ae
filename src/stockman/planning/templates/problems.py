"""Problems that prevent changes of templates; the rest of a plan does not depend on them."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import ProblemLocation, Problems


def template_stays(problems: Problems, vmid: int, name: str, clones: Sequence[str]) -> None:
    problems.warn(
        "template.stays",
        f"template {vmid} ({name}) is kept, although it is no longer configured",
        why=f"these disks are linked clones of it: {', '.join(clones)}",
        fix="nothing: a later plan deletes it when no such disks exist",
        at=f"VM {vmid}",
    )


def template_unreadable(problems: Problems, vmid: int, name: str, host: str) -> None:
    problems.warn(
        "template.unseen",
        f"template {vmid} ({name}) is kept, although it is no longer configured",
        why=f"it is unknown whether disks depend on it: {host} could not be queried",
        fix=f"bring {host} online, or give the token Datastore.Allocate on its storage; then plan"
        " again",
        at=f"VM {vmid}",
    )


def template_host_offline(problems: Problems, name: str, host: str) -> None:
    problems.warn(
        "template.host-offline",
        f"template {name} on {host} is not changed",
        why="the Proxmox cluster reports this host as offline",
        fix=f"bring {host} online and plan again, or remove it from the hosts of the template",
        at=f"Proxmox host {host}",
    )


def unsuitable_template_storage(
    problems: Problems, name: str, target: tuple[str, str, str], at: ProblemLocation
) -> None:
    storage, kind, host = target
    problems.error(
        "template.storage",
        f"template {name} cannot be stored on {storage} on {host}",
        why=f"{storage} has type {kind}, whose disks cannot become templates",
        fix="set `datastore` to a storage of another type: lvmthin, zfspool, rbd, dir or nfs",
        at=at,
    )
