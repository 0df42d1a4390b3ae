"""Problems that prevent the adoption of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stockman.model.problem import Problem, Severity

VERSION = "adopt.version"
_SHOWN = 3


def no_machine(where: str, why: str) -> Problem:
    return Problem(
        code="adopt.no-machine",
        what="no machine of the cluster was found",
        where=where,
        why=why,
        fix="name a controller as an endpoint in the talosconfig, and see whether it answers",
    )


def machine_unreachable(name: str, address: str, why: str) -> Problem:
    return Problem(
        code="adopt.silent",
        what=f"machine {name} does not tell what it is",
        where=address,
        why=why,
        fix="bring it back, or take it out of the cluster, then adopt again",
    )


def several_versions(versions: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.versions",
        what="the machines run several versions of Talos",
        where="Talos",
        why=f"they run {', '.join(versions)}, and files name one",
        fix="finish the upgrade, then adopt again",
    )


def unknown_version(version: str, because: str) -> Problem:
    return Problem(
        code="adopt.version",
        what=f"Talos {version} is no version that stockman knows",
        where="Talos",
        why=because,
        fix="upgrade the machines or stockman, then adopt again",
    )


def other_cluster(kubeconfig: Iterable[str], talosconfig: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.other-cluster",
        what="kubeconfig and talosconfig are of different clusters",
        where="kubeconfig",
        why=f"Kubernetes has {_first_few(kubeconfig)}, and Talos has {_first_few(talosconfig)}",
        fix="give both files of the same cluster",
    )


def other_authority() -> Problem:
    return Problem(
        code="adopt.other-cluster",
        what="kubeconfig and talosconfig are of different clusters",
        where="kubeconfig",
        why="its authority is not the one in the machine configuration of the controllers",
        fix="give both files of the same cluster",
    )


def no_vm(name: str, uuid: str, macs: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.no-vm",
        what=f"no VM of Proxmox belongs to machine {name}",
        where=name,
        why=f"no VM that the token may see has UUID {uuid} or a card {_first_few(macs)}",
        fix="give the token VM.Audit on /vms; name the Proxmox cluster that the machine runs in",
    )


def vm_twice(name: str, why: str, vms: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.vm-twice",
        what=f"several VMs could be machine {name}",
        where=name,
        why=f"{' and '.join(vms)} have {why}",
        fix="give each VM an identity of its own, as `qm clone` does, or remove the copy",
    )


def machine_twice(vm: str, machines: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.vm-twice",
        what=f"{vm} would be several machines",
        where=vm,
        why=f"{' and '.join(machines)} have its UUID or its cards",
        fix="see which machine really runs in the VM, and take the other one out of the cluster",
    )


def vm_name(vm: str, vmid: int, machine: str) -> Problem:
    return Problem(
        code="adopt.vm-name",
        what=f"{vm} has another name than its machine",
        where=f"VM {vmid}",
        why=f"the machine is {machine}; a VM is only touched when number, name and UUID are right",
        fix=f"rename the VM, which it does not notice: `qm set {vmid} --name {machine}`",
    )


def vm_unreadable(vm: str, why: str) -> Problem:
    return Problem(
        code="adopt.unseen",
        what=f"the configuration of {vm} cannot be read",
        where=vm,
        why=why,
        fix="give the token VM.Audit on /vms, and see whether the host answers",
    )


def talosconfig(path: str, why: str) -> Problem:
    return Problem(
        code="adopt.talosconfig",
        what="the talosconfig cannot be used",
        where=path,
        why=why,
        fix="name the file with `--talosconfig`, and its context with `talosctl config context`",
    )


def exists(path: Path) -> Problem:
    return Problem(
        code="adopt.exists",
        what=f"{path.name} is there already",
        where=str(path),
        why="adopting never writes over files",
        fix="name another directory with `--out`",
    )


def differs(node: str, description: str, why: str) -> Problem:
    return Problem(
        code="adopt.differs",
        what=f"{node} is not yet as the files say: {description}",
        where=node,
        why=why,
        fix="look at it with `stockman plan`; change the machine or the files before `apply`",
        severity=Severity.WARNING,
    )


def loose_disk(node: str, slot: str) -> Problem:
    return Problem(
        code="adopt.loose-disk",
        what=f"disk {slot} of {node} is not in the files",
        where=node,
        why="it has no serial number, by which stockman would know it; it stays where it is, and"
        " would be deleted together with its VM",
        fix=f"give it a serial number (`qm set ... --{slot} ...,serial=data`) and write it into"
        " `data_disks`",
        severity=Severity.WARNING,
    )


def guest_left_out(guest: str, why: str) -> Problem:
    return Problem(
        code="adopt.guest",
        what=f"{guest} is not in the files",
        where=guest,
        why=why,
        fix="leave it alone, or write it into `guests:` yourself",
        severity=Severity.WARNING,
    )


def component(name: str) -> Problem:
    return Problem(
        code="adopt.component",
        what=f"{name} runs in the cluster, and the files do not ask for it",
        where=f"components.{name}",
        why="what it was set up with cannot be read from the cluster",
        fix=f"write components.{name} before anything is rendered: Flux removes what is not there",
        severity=Severity.WARNING,
    )


def lost_value(key: str) -> Problem:
    return Problem(
        code="adopt.lost",
        what=f"{key} of the cluster has a value that files cannot have",
        where=key,
        why="the value does not fit the key; what follows from it is among the expected changes",
        fix=f"see what `stockman explain {key}` says, and change the machine or the files",
        severity=Severity.WARNING,
    )


def _first_few(texts: Iterable[str]) -> str:
    ordered = sorted(texts)
    shown = ", ".join(ordered[:_SHOWN])
    return f"{shown} and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else shown or "none"
