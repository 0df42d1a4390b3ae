"""Problems of actions on guests."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from stockman.model.names import Vmid
from stockman.model.problem import Problem
from stockman.proxmox.cluster import GuestKind


def guest_identity_mismatch(
    vmid: Vmid, name: str, host: str, observed_name: str, uuid: UUID | None
) -> Problem:
    return Problem(
        code="vm.identity",
        what=f"VM {vmid} is not {name}",
        where=f"Proxmox host {host}",
        why=f"it is {observed_name!r}, UUID {uuid or 'none'}; that machine is not touched",
        fix=f"give {name} another vmid, or remove the other machine if nobody needs it",
    )


def guest_not_visible(cluster: str, vmid: Vmid, name: str) -> Problem:
    return Problem(
        code="vm.hidden",
        what=f"VMID {vmid} of {name} is used by a guest that the token cannot read",
        where=f"Proxmox cluster {cluster}",
        why="Proxmox VE reports that the VMID is in use, but lists no such guest",
        fix=f"give {name} another vmid, or give the token VM.Audit on /vms/{vmid} to see the guest",
    )


def unlock_commands(kind: GuestKind, vmid: Vmid, host: str) -> str:
    """Return the commands with which root makes the creation of a guest possible again."""
    if kind == "qemu":
        return f"run `qm unlock {vmid}` as root on {host}"
    # Its root was being unpacked, and is too large to be taken for something that nobody needs.
    away = f"pct destroy {vmid} --destroy-unreferenced-disks 1"
    return f"run `pct unlock {vmid}` and `{away}` as root on {host}"


def creation_in_progress(kind: GuestKind, vmid: Vmid, name: str, host: str) -> Problem:
    called = "VM" if kind == "qemu" else "container"
    return Problem(
        code="vm.unfinished",
        what=f"{called} {vmid} ({name}) is still being created",
        where=f"Proxmox host {host}",
        why="it has no name yet, so its owner is unknown",
        fix=f"wait for the task that creates it; if {host} runs no such task,"
        f" {unlock_commands(kind, vmid, host)}",
    )


def incomplete_guest(vmid: Vmid, name: str, host: str) -> Problem:
    return Problem(
        code="vm.half-made",
        what=f"the creation of container {vmid} ({name}) was interrupted, and it was used since",
        where=f"Proxmox host {host}",
        why="it is marked as incomplete, but its last task was not its creation",
        fix=f"check whether its data is needed; if not, run `pct destroy {vmid}` on {host} and plan"
        " again; otherwise start it: a running container is kept as it is",
    )


def blank_guest(vmid: Vmid, name: str, host: str) -> Problem:
    return Problem(
        code="vm.identity",
        what=f"VM {vmid} is not {name}",
        where=f"Proxmox host {host}",
        why="its configuration is empty, without a name: its creation was interrupted",
        fix="run `stockman apply`, which creates it again",
    )


def guest_missing(vmid: Vmid, name: str, host: str) -> Problem:
    return Problem(
        code="vm.gone",
        what=f"VM {vmid} ({name}) does not exist any more",
        where=f"Proxmox host {host}",
        why="it existed when the plan was made",
        fix="run `stockman plan` again",
    )


def unproven_guest(vmid: Vmid, name: str, ownership: str) -> Problem:
    return Problem(
        code="vm.unproven",
        what=f"VM {vmid} ({name}) is not deleted",
        where=f"VM {vmid}",
        why=f"its mark does not prove that it is this guest of this cluster ({ownership})",
        fix="run `stockman plan`, which shows what the mark lacks; or delete it in Proxmox VE",
    )


def data_disks(vmid: Vmid, name: str, disks: Sequence[str]) -> Problem:
    return Problem(
        code="vm.data-disk",
        what=f"VM {vmid} ({name}) owns disks that would be lost with it",
        where=f"VM {vmid}",
        why=f"{', '.join(disks)} would be deleted, and the plan does not include that",
        fix="move them to another VM in Proxmox VE, or remove them there, and plan again",
    )


def guest_protection(vmid: Vmid, name: str) -> Problem:
    return Problem(
        code="vm.protected",
        what=f"VM {vmid} ({name}) is protected against removal",
        where=f"VM {vmid}",
        why="its option protection is on",
        fix="switch the protection off in Proxmox VE, then plan again",
    )


def kept_local_disks(volumes: Sequence[str]) -> str:
    """Return why a VM with disks that outlive it cannot move, if they are on local storage."""
    return (
        f"{', '.join(volumes)} would not move with it: it is on storage of its host, and is kept"
        " when the VM is deleted, so that it does not belong to the VM"
    )


def cannot_move(vmid: Vmid, name: str, target: str, why: str) -> Problem:
    return Problem(
        code="vm.cannot-move",
        what=f"VM {vmid} ({name}) cannot be moved to {target}",
        where=f"VM {vmid}",
        why=why,
        fix=f"let it stay where it is, or remove what holds it there; a new VM on {target} needs"
        " another vmid",
    )


def template_in_use(vmid: Vmid, name: str, clones: Sequence[str]) -> Problem:
    return Problem(
        code="template.in-use",
        what=f"template {vmid} ({name}) cannot be deleted",
        where=f"VM {vmid}",
        why=f"disks hold only what differs from its own: {', '.join(clones)}",
        fix="keep it until their VMs are gone, or make their disks independent of it in Proxmox VE"
        " (Hardware, Disk Action, Move Storage); the next plan deletes it",
    )


def leftover_volumes(vmid: Vmid, name: str, volumes: Sequence[str]) -> Problem:
    return Problem(
        code="vm.leftovers",
        what=f"VM {vmid} ({name}) cannot be created: volumes of an earlier VM still exist",
        where=f"VM {vmid}",
        why=f"{', '.join(volumes)} belong to a guest {vmid} that does not exist any more",
        fix=f"check whether they are needed, and delete them with `pvesm free VOLUME`; or give"
        f" {name} another vmid",
    )
