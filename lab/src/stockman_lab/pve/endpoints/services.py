"""`/nodes/NODE/services`: what runs on a host besides guests."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint

_PATH = "/nodes/{node}/services"
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


@endpoint("GET", _PATH)
def services(call: Call) -> object:
    return [_row(call, name) for name in _SERVICES]


@endpoint("GET", f"{_PATH}/{{service}}/state")
def state(call: Call) -> object:
    return _row(call, call.text("service"))


def _row(call: Call, name: str) -> dict[str, object]:
    row: dict[str, object] = {"service": name, "name": name, "desc": _SERVICES[name]}
    if name in _ABSENT:
        return row | {"state": "dead", "unit-state": "not-found", "active-state": "inactive"}
    if name == "corosync" and not call.cluster.state.is_clustered:
        return row | {"state": "dead", "unit-state": "enabled", "active-state": "inactive"}
    return row | {"state": "running", "unit-state": "enabled", "active-state": "active"}
