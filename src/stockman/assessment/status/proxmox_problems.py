"""Problems of Proxmox hosts and VMs, each with a fix."""

from __future__ import annotations

from uuid import UUID

from stockman.model.problem import Problem

_GIB = 1 << 30


def proxmox_silent(region: str, why: str, fix: str) -> Problem:
    return Problem(
        code="status.proxmox-silent",
        what=f"the Proxmox cluster {region} does not answer",
        where=f"Proxmox cluster {region}",
        why=why,
        fix=f"{fix}; check the connection with `stockman doctor`",
    )


def no_quorum(region: str, online: int, members: int) -> Problem:
    return Problem(
        code="status.proxmox-quorum",
        what=f"the Proxmox cluster {region} has no quorum",
        where=f"Proxmox cluster {region}",
        why=f"{online} of its {members} hosts are online; nothing can be started or changed",
        fix="bring hosts back until more than half are online, then `stockman status`",
    )


def host_offline(region: str, host: str, nodes: int) -> Problem:
    return Problem(
        code="status.host-offline",
        what=f"the Proxmox host {host} is offline",
        where=f"Proxmox cluster {region}",
        why=f"its cluster reports it offline; configured nodes on it: {nodes}",
        fix=f"bring {host} back; if it is lost for good, give its nodes another host and run"
        " `stockman plan`",
    )


def host_unknown(region: str, host: str, known: str) -> Problem:
    return Problem(
        code="status.host-unknown",
        what=f"the Proxmox cluster {region} has no host {host}",
        where=f"Proxmox cluster {region}",
        why=f"nodes are configured on it; the hosts are {known}",
        fix="name an existing host in nodes.yaml, then `stockman plan`",
    )


def storage_full(storage: str, host: str, used: int, size: int) -> Problem:
    return Problem(
        code="status.storage-full",
        what=f"the storage {storage} on {host} is {used * 100 // size} % full",
        where=f"Proxmox host {host}",
        why=f"{used // _GIB} of {size // _GIB} GiB are used; VMs stop when their storage is full",
        fix="free space; delete unused images with `stockman apply --prune`",
    )


def storage_gone(storage: str, host: str) -> Problem:
    return Problem(
        code="status.storage-gone",
        what=f"the storage {storage} is not available on {host}",
        where=f"Proxmox host {host}",
        why="Proxmox VE lists it but cannot use it; it holds disks of nodes",
        fix=f"look at it with `pvesm status` on {host}, and restore it",
    )


def memory_full(host: str, used: int, size: int) -> Problem:
    return Problem(
        code="status.memory-full",
        what=f"the memory of {host} is {used * 100 // size} % full",
        where=f"Proxmox host {host}",
        why=f"{used // _GIB} of {size // _GIB} GiB are used; the kernel may kill a VM",
        fix="give a node another host or less memory in nodes.yaml, then `stockman plan`",
    )


def vm_missing(node: str, vmid: int, region: str) -> Problem:
    return Problem(
        code="status.vm-missing",
        what=f"{node} has no VM",
        where=f"Proxmox cluster {region}",
        why=f"no guest has VMID {vmid}",
        fix=f"see the steps with `stockman plan --node {node}`, then `stockman apply`",
    )


def vm_incomplete(node: str, vmid: int, host: str) -> Problem:
    return Problem(
        code="status.vm-missing",
        what=f"{node} has no VM",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is empty: {host} failed while creating it",
        fix=f"see the steps with `stockman plan --node {node}`, then `stockman apply`",
    )


def guest_missing(guest: str, vmid: int, region: str, *, is_watched: bool = False) -> Problem:
    """`is_watched`: stockman only observes the guest and never creates it."""
    fix = f"see the steps with `stockman plan --node {guest}`, then `stockman apply`"
    if is_watched:
        fix = "create it, remove `manage: observe` so that stockman creates it, or remove it"
    return Problem(
        code="status.guest-missing",
        what=f"the guest {guest} does not exist",
        where=f"Proxmox cluster {region}",
        why=f"no guest has VMID {vmid}",
        fix=fix,
    )


def guest_stopped(guest: str, vmid: int, host: str, status: str) -> Problem:
    return Problem(
        code="status.guest-stopped",
        what=f"the guest {guest} does not run",
        where=f"Proxmox host {host}",
        why=f"{vmid} is {status}",
        fix=f"start it on {host} if it should run; stockman does not manage its power",
    )


def vm_stopped(node: str, vmid: int, host: str, status: str) -> Problem:
    return Problem(
        code="status.vm-stopped",
        what=f"the VM of {node} does not run",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is {status}",
        fix=f"start it with `qm start {vmid}` on {host}, or let `stockman apply --node {node}`"
        " do it",
    )


def vm_locked(node: str, vmid: int, host: str, lock: str) -> Problem:
    return Problem(
        code="status.vm-locked",
        what=f"the VM of {node} is locked",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} has the lock {lock!r}: a task is running, or was killed",
        fix=f"wait for the task; if none runs, `qm unlock {vmid}` on {host}",
    )


def vm_elsewhere(node: str, vmid: int, host: str, desired: str) -> Problem:
    return Problem(
        code="status.vm-elsewhere",
        what=f"the VM of {node} is on a different host than configured",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is on {host}, and nodes.yaml says {desired}",
        fix=f"see the move with `stockman plan --node {node}`, or write {host} into nodes.yaml",
    )


def vm_twice(node: str, vmid: int, other_vmid: int, host: str) -> Problem:
    return Problem(
        code="status.vm-twice",
        what=f"two VMs run under the name of {node}",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is configured in nodes.yaml, but VM {other_vmid} also runs on {host}, most"
        " likely with the same address",
        fix=f"run `qm stop {other_vmid}` on {host}, then check `stockman plan`",
    )


def vm_name_differs(node: str, vmid: int, host: str, observed_name: str) -> Problem:
    return Problem(
        code="status.vm-identity",
        what=f"VM {vmid} no longer has the name of {node}",
        where=f"Proxmox host {host}",
        why=f"its name is {observed_name!r}, with the UUID of {node}; stockman does not touch a VM"
        " whose name and UUID do not match, and cloud controllers cannot find it",
        fix=f"run `qm set {vmid} --name {node}` on {host}",
    )


def vm_identity(node: str, vmid: int, host: str, observed_name: str, uuid: UUID | None) -> Problem:
    shown = f"UUID {uuid}" if uuid is not None else "without a UUID"
    return Problem(
        code="status.vm-identity",
        what=f"VM {vmid} is not {node}",
        where=f"Proxmox host {host}",
        why=f"it is {observed_name!r}, {shown}",
        fix=f"give {node} another vmid, or adopt that machine with `stockman adopt`",
    )
