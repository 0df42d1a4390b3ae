"""Files of the image itself, and those that Talos keeps for itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stockman_lab.talos.disks import names
from stockman_lab.talos.extensions import extensions
from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.figures.partitions import system_partitions

if TYPE_CHECKING:
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_PROGRAMS = {
    "containerd": 44,
    "containerd-shim-runc-v2": 13,
    "runc": 11,
    "init": 96,
    "xfs_growfs": 1,
    "mkfs.xfs": 1,
    "mkfs.vfat": 1,
    "systemd-udevd": 1,
    "udevadm": 1,
    "lvm": 3,
    "nft": 1,
}
"""Programs and their sizes in MiB; they are zeros inside."""
_LINKS = {"/bin": "usr/bin", "/sbin": "usr/bin", "/lib": "usr/lib", "/usr/sbin": "bin"}
_DEVICES = ("null", "zero", "random", "urandom", "kmsg", "console", "tty0", "ttyS0", "loop0")
_MODULES = ("modules.builtin", "modules.dep", "modules.order", "modules.alias")


def add_usr(tree: Tree, machine: Machine) -> None:
    """The read-only root, `/dev`, `/run` and `/system`."""
    for path, target in _LINKS.items():
        tree.link(path, target)
    for name, size in _PROGRAMS.items():
        tree.file(f"/usr/bin/{name}", partial(bytes, size * _MIB), 0o755, size=size * _MIB)
    for name in ("apid", "trustd", "machined", "dashboard", "poweroff", "shutdown"):
        tree.link(f"/usr/bin/{name}", "init")
    kernel = build_of(machine).kernel
    for name in _MODULES:
        tree.file(f"/usr/lib/modules/{kernel}/{name}", "")
    tree.file("/usr/lib/os-release", f'NAME="Talos"\nID=talos\nVERSION_ID={machine.version}\n')
    for folder in ("/boot", "/opt", "/tmp", "/usr/libexec/kubernetes", "/run/containerd"):
        tree.directory(folder)
    for name in _DEVICES:
        tree.device(f"/dev/{name}")
    for name in names(machine.view).values():
        tree.device(f"/dev/{name}")
    for partition in system_partitions(machine):
        tree.device(partition.path)
    _add_system(tree, machine)


def _add_system(tree: Tree, machine: Machine) -> None:
    for folder in ("/system/etc", "/system/run/machined", "/system/var", "/system/libexec/apid"):
        tree.directory(folder)
    if extensions(machine):
        listed = "".join(f"- {extension}\n" for extension in extensions(machine))
        tree.file("/etc/extensions.yaml", f"layers:\n{listed}")
    disk = machine.disk
    if machine.state.config:
        tree.directory("/system/state", 0o700)
        kept = disk.config if disk is not None else b""
        if kept:
            tree.file("/system/state/config.yaml", kept, 0o600)
        if disk is not None and disk.node_identity:
            text = f"nodeId: {disk.node_identity}\n"
            tree.file("/system/state/node-identity.yaml", text, 0o600)
