"""What keeps templates from being replaced; the rest of a plan does not wait for it."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import ProblemLocation, Problems


def template_stays(problems: Problems, vmid: int, name: str, clones: Sequence[str]) -> None:
    problems.warn(
        "template.stays",
        f"template {vmid} ({name}) stays, although the configuration has another",
        why=f"disks hold only what differs from its own: {', '.join(clones)}",
        fix="nothing: it is deleted by a plan that finds no such disks any more",
        at=f"VM {vmid}",
    )


def template_unreadable(problems: Problems, vmid: int, name: str, host: str) -> None:
    problems.warn(
        "template.unseen",
        f"template {vmid} ({name}) stays, although the configuration has another",
        why=f"nobody knows whether disks depend on it: {host} does not tell",
        fix=f"bring {host} back, or give the token Datastore.Allocate on its storage; then plan"
        " again",
        at=f"VM {vmid}",
    )


def template_host_offline(problems: Problems, name: str, host: str) -> None:
    problems.warn(
        "template.host-offline",
        f"the template {name} on {host} is left as it is",
        why="the Proxmox cluster says that this host is offline",
        fix=f"bring {host} back and plan again, or take it out of the hosts of the template",
        at=f"Proxmox host {host}",
    )


def unsuitable_template_storage(
    problems: Problems, name: str, told: tuple[str, str, str], at: ProblemLocation
) -> None:
    storage, kind, host = told
    problems.error(
        "template.storage",
        f"the template {name} cannot be in {storage} on {host}",
        why=f"{storage} is of the type {kind}, whose disks cannot be made templates",
        fix="name a storage of another type in `datastore`: lvmthin, zfspool, rbd, dir or nfs",
        at=at,
    )
