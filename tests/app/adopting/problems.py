"""Every problem of adopting a cluster, made as its page shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stockman.assessment.adoption import problems as say
from stockman.model.problem import Problem

_UUID = "5f0a9c1e-0000-4000-8000-00000000002a"

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "adopt.component": lambda: say.component("proxmox-csi"),
    "adopt.differs": lambda: say.differs(
        "cp-1", "VM 1030 (cp-1): machine", "machine is pc-q35-9.0 and should be q35"
    ),
    "adopt.exists": lambda: say.exists(Path("my-cluster/cluster.yaml")),
    "adopt.guest": lambda: say.guest_left_out(
        "VM 901 (Big.Box)", "'Big.Box' is no name that files can have (a-z, 0-9, hyphen)"
    ),
    "adopt.loose-disk": lambda: say.loose_disk("cp-1", "scsi1"),
    "adopt.values": lambda: say.lost_release_values(
        "cilium", ["operator.replicas", "hubble.enabled"]
    ),
    "adopt.lost": lambda: say.lost_value("nodes.vm.machine"),
    "adopt.no-machine": lambda: say.no_machine("talosconfig", "the talosconfig names no endpoint"),
    "adopt.no-vm": lambda: say.no_vm("cp-1", _UUID, ["bc:24:11:03:00:16"]),
    "adopt.other-cluster": lambda: say.other_cluster(["home-1", "home-2"], ["cp-1", "cp-2"]),
    "adopt.silent": lambda: say.machine_unreachable(
        "cp-3", "127.66.0.13", "the machine does not answer: no route to host"
    ),
    "adopt.talosconfig": lambda: say.talosconfig("talosconfig", "it has no current context"),
    "adopt.unseen": lambda: say.vm_unreadable(
        "VM 1030 (cp-1)", "Proxmox refuses: Permission check failed (/vms/1030, VM.Audit)"
    ),
    "adopt.version": lambda: say.unknown_version(
        "1.9.5", "its machine configurations may have fields that stockman cannot write"
    ),
    "adopt.versions": lambda: say.several_versions(["v1.12.6", "v1.13.9"]),
    "adopt.vm-name": lambda: say.vm_name("VM 1030 (talos-a)", 1030, "cp-1"),
    "adopt.vm-twice": lambda: say.vm_twice(
        "cp-1", f"UUID {_UUID}", ["VM 1030 (cp-1)", "VM 1099 (copy-of-cp-1)"]
    ),
}
