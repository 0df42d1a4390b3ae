"""Configuration files of guests, as they lie below `/etc/pve`."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import container_config_text, machine_config_text

_RAW = "lxc."


def guest_file(cluster: Cluster, node: str, vmid: int, kind: str) -> bytes | None:
    """The file of a guest. None: there is none."""
    guest = _guest(cluster, node, vmid, kind)
    if guest is None:
        return None
    text = container_config_text if kind == "lxc" else machine_config_text
    return text(guest.config).encode("utf-8", "surrogatepass")


def write_guest_file(cluster: Cluster, node: str, vmid: int, kind: str, content: bytes) -> bool:
    """Take over a file; only settings of LXC itself may differ. Returns whether it was."""
    guest = _guest(cluster, node, vmid, kind)
    if guest is None or kind != "lxc" or not cluster.is_quorate:
        return False
    before = container_config_text(guest.config)
    lines = content.decode("utf-8", "surrogateescape").splitlines()
    if _without_raw(lines) != _without_raw(before.splitlines()):
        return False
    pairs = (line.split(":", 1) for line in lines if _is_raw(line))
    guest.config.raw = [[name.strip(), value.strip()] for name, value in pairs]
    guest.changed_at = cluster.now
    cluster.changed()
    return True


def _is_raw(line: str) -> bool:
    return line.startswith(_RAW) and ":" in line and not line.startswith("lxc.environment.runtime")


def _without_raw(lines: list[str]) -> list[str]:
    return [line for line in lines if line and not _is_raw(line)]


def _guest(cluster: Cluster, node: str, vmid: int, kind: str) -> Guest | None:
    guest = cluster.state.guests.get(vmid)
    return guest if guest is not None and (guest.node, guest.kind) == (node, kind) else None
