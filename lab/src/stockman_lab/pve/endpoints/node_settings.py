"""`/nodes/NODE/{config,dns,time,hosts,services,apt}`: settings, services and packages of a host."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.releases import Release, release_of
from stockman_lab.pve.sections import refuse_changed, text_digest, texts
from stockman_lab.pve.workers import Job, Work, register

_NUMBERS = ("ballooning-target", "startall-onboot-delay")


@endpoint("GET", "/nodes/{node}/config")
def config(call: Call) -> object:
    found = _config(call.node)
    if not call.has("property"):
        return found
    name = call.text("property")
    return {name: found[name]} if name in found else {}


@endpoint("PUT", "/nodes/{node}/config")
def set_config(call: Call) -> object:
    host = call.node
    call.cluster.require_quorum(f"file-nodes_{host.name}_config")
    refuse_changed(_config_digest(host), call.text("digest"))
    host.options |= texts(call.params, ("node", "digest", "delete"))
    for name in split_list(call.text("delete")):
        host.options.pop(name, None)
    call.cluster.changed()
    return None


@endpoint("GET", "/nodes/{node}/dns")
def dns(call: Call) -> object:
    return dict(call.node.dns)


@endpoint("PUT", "/nodes/{node}/dns")
def set_dns(call: Call) -> object:
    call.node.dns = texts(call.params, ("node",))
    return None


@endpoint("GET", "/nodes/{node}/time")
def time(call: Call) -> object:
    host = call.node
    now = int(call.now + host.clock_error)
    offset = datetime.fromtimestamp(now, tz=_zone(host.time_zone)).utcoffset()
    shift = int(offset.total_seconds()) if offset is not None else 0
    return {"timezone": host.time_zone, "time": now, "localtime": now + shift}


@endpoint("PUT", "/nodes/{node}/time")
def set_time_zone(call: Call) -> object:
    name = call.text("timezone")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise bad_parameters({"timezone": f"No such timezone: '{name}'"}) from error
    call.node.time_zone = name
    return None


@endpoint("GET", "/nodes/{node}/hosts")
def hosts(call: Call) -> object:
    text = call.node.hosts_file
    return {"data": text, "digest": text_digest(text)}


@endpoint("POST", "/nodes/{node}/hosts")
def set_hosts(call: Call) -> object:
    host = call.node
    refuse_changed(text_digest(host.hosts_file), call.text("digest"))
    host.hosts_file = call.text("data")
    return None


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _config(host: Host) -> dict[str, object]:
    values: dict[str, object] = {
        name: int(value) if name in _NUMBERS else value for name, value in host.options.items()
    }
    description = host.options.get("description", "").rstrip("\n")
    values.pop("description", None)
    if description:
        values["description"] = f"{description}\n"
    return values | {"digest": _config_digest(host)}


def _config_digest(host: Host) -> str:
    lines = (f"{name}: {value}" for name, value in sorted(host.options.items()))
    return text_digest("\n".join(lines))


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


@endpoint("GET", f"{_SERVICES_PATH}/{{service}}/state")
def service_state(call: Call) -> object:
    return _service_row(call, call.text("service"))


def _service_row(call: Call, name: str) -> dict[str, object]:
    row: dict[str, object] = {"service": name, "name": name, "desc": _SERVICES[name]}
    if name in _ABSENT:
        return row | {"state": "dead", "unit-state": "not-found", "active-state": "inactive"}
    if name == "corosync" and not call.cluster.state.is_clustered:
        return row | {"state": "dead", "unit-state": "enabled", "active-state": "inactive"}
    return row | {"state": "running", "unit-state": "enabled", "active-state": "active"}


_PACKAGES_PATH = "/nodes/{node}/apt"


@register
class Refresh(Work):
    """Reads the lists of packages anew; there is nothing newer in them."""

    name: ClassVar[str] = "host.refresh-packages"

    def begin(self, job: Job) -> float:
        job.log("starting apt-get update")
        return job.cluster.around.dice.between(2.0, 6.0)


@endpoint("GET", f"{_PACKAGES_PATH}/update")
def updates(call: Call) -> object:
    del call
    return []


@endpoint("POST", f"{_PACKAGES_PATH}/update")
def refresh(call: Call) -> object:
    return call.start("aptupdate", "", Refresh.name, {})


@endpoint("GET", f"{_PACKAGES_PATH}/versions")
def versions(call: Call) -> object:
    release = release_of(call.cluster.state.profile)
    kernel = call.node.kernel or release.kernel
    rows = [_package_row(name, version) for name, version in _packages(release).items()]
    rows[0]["RunningKernel"] = kernel
    rows[1]["ManagerVersion"] = f"{release.version}/{release.repoid}"
    return rows


def _packages(release: Release) -> dict[str, str]:
    major = release.release.partition(".")[0]
    return {
        "proxmox-ve": f"{release.release}.0",
        "pve-manager": release.version,
        f"proxmox-kernel-{release.kernel}-signed": release.kernel.removesuffix("-pve"),
        "corosync": "3.1.9-pve2",
        "libpve-access-control": f"{major}.0.3",
        "libpve-storage-perl": f"{major}.0.6",
        "lxc-pve": "6.0.5-1",
        "pve-cluster": f"{major}.0.6",
        "pve-container": f"{int(major) - 3}.0.9",
        "pve-firewall": f"{int(major) - 3}.0.3",
        "pve-ha-manager": f"{int(major) - 4}.0.4",
        "pve-qemu-kvm": f"{release.qemu}-1",
        "qemu-server": f"{major}.0.22",
    }


def _package_row(name: str, version: str) -> dict[str, object]:
    return {
        "Package": name,
        "Title": name,
        "Description": f"{name} package",
        "Version": version,
        "OldVersion": version,
        "Arch": "amd64",
        "Origin": "Proxmox",
        "Priority": "optional",
        "Section": "admin",
        "CurrentState": "Installed",
    }
