"""`/nodes/NODE/services`: what runs on a host besides guests."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.workers import Job, Work, register

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
_ESSENTIAL = ("pveproxy", "pvedaemon", "pve-cluster")
_COMMANDS = ("start", "stop", "restart", "reload")


@register
class Command(Work):
    """Tells a service what to do; it is there again afterwards."""

    name: ClassVar[str] = "host.service"

    def begin(self, job: Job) -> float:
        service, command = job.text("service"), job.text("command")
        if command == "stop" and service in _ESSENTIAL:
            raise die(f"invalid service cmd '{service} stop': refusing to stop essential service!")
        return job.cluster.around.dice.between(0.3, 1.5)


@endpoint("GET", _PATH)
def services(call: Call) -> object:
    return [_row(call, name) for name in _SERVICES]


@endpoint("GET", f"{_PATH}/{{service}}")
def index(call: Call) -> object:
    del call
    return [{"subdir": name} for name in ("state", *_COMMANDS)]


@endpoint("GET", f"{_PATH}/{{service}}/state")
def state(call: Call) -> object:
    return _row(call, call.text("service"))


@endpoint("POST", f"{_PATH}/{{service}}/start")
def start(call: Call) -> object:
    return _command(call, "start")


@endpoint("POST", f"{_PATH}/{{service}}/stop")
def stop(call: Call) -> object:
    return _command(call, "stop")


@endpoint("POST", f"{_PATH}/{{service}}/restart")
def restart(call: Call) -> object:
    return _command(call, "restart")


@endpoint("POST", f"{_PATH}/{{service}}/reload")
def reload(call: Call) -> object:
    return _command(call, "reload")


def _command(call: Call, command: str) -> str:
    name = call.text("service")
    return call.start(f"srv{command}", name, Command.name, {"service": name, "command": command})


def _row(call: Call, name: str) -> dict[str, object]:
    row: dict[str, object] = {"service": name, "name": name, "desc": _SERVICES[name]}
    if name in _ABSENT:
        return row | {"state": "dead", "unit-state": "not-found", "active-state": "inactive"}
    if name == "corosync" and not call.cluster.state.is_clustered:
        return row | {"state": "dead", "unit-state": "enabled", "active-state": "inactive"}
    return row | {"state": "running", "unit-state": "enabled", "active-state": "active"}
