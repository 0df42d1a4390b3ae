"""Rows about virtual machines: in the list of a host, and on a machine's own page."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.drive import is_drive
from stockman_lab.pve.formats.hardware import display_type, is_agent_enabled
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_rows import figures, memory_of, used_memory_of
from stockman_lab.pve.releases import release_of

_PRESSURES = ("cpufull", "cpusome", "iofull", "iosome", "memoryfull", "memorysome")
_SHARES = 1000
_BLOCK_COUNTERS = (
    *("rd_bytes", "rd_operations", "wr_bytes", "wr_operations", "flush_operations"),
    *("failed_rd_operations", "failed_wr_operations", "unmap_bytes", "unmap_operations"),
)


def list_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """A machine in the list of its host."""
    values = guest.config.values
    row: dict[str, object] = {"vmid": guest.vmid, "status": guest.status, "name": guest.name}
    row |= figures(cluster, guest)
    if int(values.get("balloon", "0")):
        row["balloon_min"] = int(values["balloon"]) * MIB
        row["shares"] = int(values.get("shares", str(_SHARES)))
    if guest.is_template:
        row["template"] = 1
    if any(is_indexed(key, "serial") for key in values):
        row["serial"] = 1
    if guest.lock:
        row["lock"] = guest.lock
    if "tags" in values:
        row["tags"] = values["tags"]
    if guest.is_running:
        row["pid"] = guest.pid
        if cluster.is_nine:
            row |= {f"pressure{name}": 0 for name in _PRESSURES}
    return row


def status_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """Everything about a machine as it is now."""
    values = guest.config.values
    row = list_row(cluster, guest)
    row["qmpstatus"] = guest.status
    if guest.is_running:
        row |= _running(cluster, guest)
    row["ha"] = _ha(cluster, guest)
    if values.get("vga", "").strip():
        if display_type(values["vga"]).startswith(("virtio", "qxl")):
            row["spice"] = 1
        if "clipboard=vnc" in values["vga"]:
            row["clipboard"] = "vnc"
    if is_agent_enabled(values.get("agent", "")):
        row["agent"] = 1
    return row


def _running(cluster: Cluster, guest: Guest) -> dict[str, object]:
    release = release_of(cluster.state.profile)
    memory, used = memory_of(guest), used_memory_of(guest)
    running: dict[str, object] = {
        "qmpstatus": guest.halted or ("paused" if guest.paused else "running"),
        "running-machine": _machine(guest, release.machine),
        "running-qemu": release.qemu,
        "proxmox-support": {
            "pbs-dirty-bitmap": 1,
            "pbs-dirty-bitmap-migration": 1,
            "pbs-dirty-bitmap-savevm": 1,
            "pbs-masterkey": 1,
            "query-bitmap-info": 1,
            "backup-max-workers": 1,
            "pbs-library-version": "1.5.1 (UNKNOWN)",
        },
        "blockstat": {
            key: dict.fromkeys(_BLOCK_COUNTERS, 0)
            for key in sorted(guest.config.values)
            if is_drive(key) and key != "tpmstate0"
        },
        "nics": {
            f"tap{guest.vmid}i{key.removeprefix('net')}": {"netin": 0, "netout": 0}
            for key in sorted(guest.config.values)
            if is_indexed(key, "net")
        },
    }
    if guest.config.values.get("balloon") != "0":
        running["balloon"] = memory
        running["freemem"] = memory - used
        running["ballooninfo"] = {
            "actual": memory,
            "max_mem": memory,
            "total_mem": memory,
            "free_mem": memory - used,
            "last_update": int(cluster.now),
            "major_page_faults": 0,
            "minor_page_faults": 0,
            "mem_swapped_in": 0,
            "mem_swapped_out": 0,
        }
    return running


def _machine(guest: Guest, newest: str) -> str:
    text = guest.config.values.get("machine", "").split(",")[0].removeprefix("type=")
    if text in ("", "pc"):
        return newest
    return newest.replace("i440fx", "q35") if text == "q35" else text


def _ha(cluster: Cluster, guest: Guest) -> dict[str, object]:
    section = cluster.state.ha_resources.get(f"vm:{guest.vmid}")
    if section is None:
        return {"managed": 0}
    return {"managed": 1, "state": section.options.get("state", "started")}
