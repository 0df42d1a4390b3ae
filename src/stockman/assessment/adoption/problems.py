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
        what="no machine of the cluster answers",
        where=where,
        why=why,
        fix="set a reachable controller as endpoint in the talosconfig",
    )


def machine_unreachable(name: str, address: str, why: str) -> Problem:
    return Problem(
        code="adopt.silent",
        what=f"machine {name} cannot be read",
        where=address,
        why=why,
        fix="repair it or remove it from the cluster, then adopt again",
    )


def several_versions(versions: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.versions",
        what="the machines run different versions of Talos",
        where="Talos",
        why=f"they run {', '.join(versions)}, but the files name only one",
        fix="finish the upgrade, then adopt again",
    )


def unknown_version(version: str, because: str) -> Problem:
    return Problem(
        code="adopt.version",
        what=f"Talos {version} is not a version that stockman knows",
        where="Talos",
        why=because,
        fix="upgrade the machines or stockman, then adopt again",
    )


def other_cluster(kubeconfig: Iterable[str], talosconfig: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.other-cluster",
        what="kubeconfig and talosconfig belong to different clusters",
        where="kubeconfig",
        why=f"Kubernetes has {_first_few(kubeconfig)}, and Talos has {_first_few(talosconfig)}",
        fix="use files of the same cluster",
    )


def other_authority() -> Problem:
    return Problem(
        code="adopt.other-cluster",
        what="kubeconfig and talosconfig belong to different clusters",
        where="kubeconfig",
        why="its authority is not the one in the machine configuration of the controllers",
        fix="use files of the same cluster",
    )


def no_vm(name: str, uuid: str, macs: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.no-vm",
        what=f"no Proxmox VM matches machine {name}",
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
        fix="give each VM its own identity, as `qm clone` does, or remove the copy",
    )


def machine_twice(vm: str, machines: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.vm-twice",
        what=f"{vm} matches several machines",
        where=vm,
        why=f"{' and '.join(machines)} have its UUID or its cards",
        fix="find out which machine runs in the VM, and remove the other one from the cluster",
    )


def vm_name(vm: str, vmid: int, machine: str) -> Problem:
    return Problem(
        code="adopt.vm-name",
        what=f"{vm} has another name than its machine",
        where=f"VM {vmid}",
        why=f"the machine is {machine}; stockman changes a VM only if VMID, name and UUID match",
        fix=f"rename the VM, which has no effect inside it: `qm set {vmid} --name {machine}`",
    )


def vm_unreadable(vm: str, why: str) -> Problem:
    return Problem(
        code="adopt.unseen",
        what=f"the configuration of {vm} cannot be read",
        where=vm,
        why=why,
        fix="give the token VM.Audit on /vms, and check that the host is online",
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
        why="adopting never overwrites files",
        fix="name another directory with `--out`",
    )


def differs(node: str, description: str, why: str) -> Problem:
    return Problem(
        code="adopt.differs",
        what=f"{node} differs from the files: {description}",
        where=node,
        why=why,
        fix="see `stockman plan`; change the machine or the files before `apply`",
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
        what=f"{name} runs in the cluster but is not in the files",
        where=f"components.{name}",
        why="its settings cannot be read from the cluster",
        fix=f"write components.{name} before rendering: Flux deletes what is not rendered",
        severity=Severity.WARNING,
    )


def lost_release_values(name: str, paths: Iterable[str]) -> Problem:
    return Problem(
        code="adopt.values",
        what=f"the release {name} has values that the files do not give it",
        where=f"components.{name}",
        why=f"they differ in {_first_few(paths)}",
        fix=f"write what you need to components.{name}.settings or .values before rendering",
        severity=Severity.WARNING,
    )


def lost_value(key: str) -> Problem:
    return Problem(
        code="adopt.lost",
        what=f"{key} of the cluster has a value that the files cannot express",
        where=key,
        why="the value is invalid for the key; the effect is listed in the expected changes",
        fix=f"see what `stockman explain {key}` says, and change the machine or the files",
        severity=Severity.WARNING,
    )


def _first_few(texts: Iterable[str]) -> str:
    ordered = sorted(texts)
    shown = ", ".join(ordered[:_SHOWN])
    return f"{shown} and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else shown or "none"
