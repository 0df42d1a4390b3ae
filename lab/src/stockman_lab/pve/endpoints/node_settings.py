"""`/nodes/NODE/{config,dns,time,hosts,services}`: settings and services of a host."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.sections import text_digest


@endpoint("GET", "/nodes/{node}/config")
def config(call: Call) -> object:
    """Nothing is ever configured."""
    return {} if call.has("property") else {"digest": text_digest("")}


@endpoint("GET", "/nodes/{node}/dns")
def dns(call: Call) -> object:
    return dict(call.node.dns)


@endpoint("GET", "/nodes/{node}/time")
def time(call: Call) -> object:
    host = call.node
    now = int(call.now + host.clock_error)
    offset = datetime.fromtimestamp(now, tz=_zone(host.time_zone)).utcoffset()
    shift = int(offset.total_seconds()) if offset is not None else 0
    return {"timezone": host.time_zone, "time": now, "localtime": now + shift}


@endpoint("GET", "/nodes/{node}/hosts")
def hosts(call: Call) -> object:
    text = call.node.hosts_file
    return {"data": text, "digest": text_digest(text)}


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


_SERVICES_PATH = "/nodes/{node}/services"
_SERVICES = {
    "chrony": "chrony, an NTP client/server",
    "corosync": "Corosync Cluster Engine",
    "cron": "Regular background program processing daemon",
    "ksmtuned": "Kernel Samepage Merging (KSM) Tuning Daemon",
    "lxcfs": "FUSE filesystem for LXC",
    "postfix": "Postfix Mail Transport Agent",
    "proxmox-firewall": "Proxmox nftables firewall",
    "pve-cluster": "The Proxmox VE cluster filesystem",
    "pve-firewall": "Proxmox VE firewall",
    "pve-ha-crm": "PVE Cluster HA Resource Manager Daemon",
    "pve-ha-lrm": "PVE Local HA Resource Manager Daemon",
    "pve-lxc-syscalld": "Proxmox VE LXC Syscall Daemon",
    "pvedaemon": "PVE API Daemon",
    "pvefw-logger": "Proxmox VE firewall logger",
    "pveproxy": "PVE API Proxy Server",
    "pvescheduler": "Proxmox VE scheduler",
    "pvestatd": "PVE Status Daemon",
    "qmeventd": "PVE Qemu Event Daemon",
    "spiceproxy": "PVE SPICE Proxy Server",
    "sshd": "OpenBSD Secure Shell server",
    "syslog": "syslog.service",
    "systemd-journald": "Journal Service",
    "systemd-timesyncd": "systemd-timesyncd.service",
}
_ABSENT = ("syslog", "systemd-timesyncd")


@endpoint("GET", _SERVICES_PATH)
def services(call: Call) -> object:
    return [_service_row(call, name) for name in _SERVICES]


def _service_row(call: Call, name: str) -> dict[str, object]:
    row: dict[str, object] = {"service": name, "name": name, "desc": _SERVICES[name]}
    if name in _ABSENT:
        return row | {"state": "dead", "unit-state": "not-found", "active-state": "inactive"}
    if name == "corosync" and not call.cluster.state.is_clustered:
        return row | {"state": "dead", "unit-state": "enabled", "active-state": "inactive"}
    return row | {"state": "running", "unit-state": "enabled", "active-state": "active"}
