"""What is mounted on a machine, how large it is, and how full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.disk import EPHEMERAL, SD_BOOT, STATE
from stockman_lab.talos.figures.partitions import system_partition
from stockman_lab.talos.figures.steady import between
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_ROOT = 82 * _MIB
_OVERLAYS = ("/etc/cni", "/etc/kubernetes", "/usr/libexec/kubernetes", "/opt")
_GENERATED = ("/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/etc/os-release")
_RUN = 0.5


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount."""

    source: str
    target: str
    kind: str
    options: str
    size: int = 0
    available: int = 0


def mounts(machine: Machine) -> list[Mount]:
    """All mounts, in the order in which they were made."""
    memory = machine.state.memory
    found = [
        Mount("/dev/loop0", "/", "squashfs", "ro,relatime", _ROOT, 0),
        _in_memory("devtmpfs", "/dev", "devtmpfs", memory // 2, 0),
        Mount("proc", "/proc", "proc", "rw,nosuid,nodev,noexec,relatime"),
        Mount("sysfs", "/sys", "sysfs", "rw,nosuid,nodev,noexec,relatime"),
        _in_memory("tmpfs", "/run", "tmpfs", int(memory * _RUN), 1 * _MIB),
        _in_memory("tmpfs", "/system", "tmpfs", int(memory * _RUN), 26 * _MIB),
        _in_memory("tmpfs", "/tmp", "tmpfs", 64 * _MIB, 0),
        Mount("cgroup2", "/sys/fs/cgroup", "cgroup2", "rw,nosuid,nodev,noexec,relatime"),
        Mount("efivarfs", "/sys/firmware/efi/efivars", "efivarfs", "ro,nosuid,nodev,noexec"),
        Mount("securityfs", "/sys/kernel/security", "securityfs", "rw,nosuid,nodev,noexec"),
        Mount("selinuxfs", "/sys/fs/selinux", "selinuxfs", "rw,nosuid,noexec,relatime"),
        Mount("bpf", "/sys/fs/bpf", "bpf", "rw,nosuid,nodev,noexec,relatime"),
        Mount("devpts", "/dev/pts", "devpts", "rw,nosuid,noexec,relatime,gid=5,mode=620"),
    ]
    if machine.disk is None or machine.disk.bootloader != SD_BOOT:
        found = [one for one in found if one.kind != "efivarfs"]
    found += [
        Mount("tmpfs", path, "tmpfs", "ro,nosuid,nodev,noexec,relatime") for path in _GENERATED
    ]
    return [*found, *_on_disk(machine)]


def used_on_ephemeral(machine: Machine) -> int:
    """Bytes that images, etcd and logs take; logs grow with the clock."""
    images = sum(one.size for stored in machine.state.images.values() for one in stored.values())
    base = 240 * _MIB if machine.runs("cri") else 60 * _MIB
    etcd = 96 * _MIB if machine.runs("etcd") else 0
    logs = int(uptime(machine) * between(machine, "logs", 400.0, 900.0))
    return base + etcd + images + min(logs, 400 * _MIB)


def _on_disk(machine: Machine) -> list[Mount]:
    state = system_partition(machine, STATE)
    data = system_partition(machine, EPHEMERAL)
    if not machine.state.config or state is None:
        return []
    usable = state.size - 6 * _MIB
    options = "rw,nosuid,nodev,noexec,relatime"
    disk = [Mount(state.path, "/system/state", "xfs", options, usable, usable - 6 * _MIB)]
    if data is None or "cri" not in machine.state.services:
        return disk
    size = data.size - data.size // 200
    available = max(size - used_on_ephemeral(machine), 0)
    disk.append(Mount(data.path, "/var", "xfs", "rw,nosuid,nodev,relatime", size, available))
    disk += [
        Mount("overlay", path, "overlay", "rw,nosuid,nodev,relatime", size, available)
        for path in _OVERLAYS
    ]
    return disk


def _in_memory(source: str, target: str, kind: str, size: int, used: int) -> Mount:
    options = "rw,nosuid,nodev,noexec,relatime" if kind == "tmpfs" else "rw,nosuid,relatime"
    return Mount(source, target, kind, options, size, size - used)
