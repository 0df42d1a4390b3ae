"""`/nodes`: hosts at a glance, their state, settings, services and power."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stockman_lab.authority.state import Certificate
from stockman_lab.pve import guest_rows, host_power
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.host import Host
from stockman_lab.pve.releases import release_of


def fingerprint_of(certificate: Certificate) -> str:
    """The SHA-256 of a certificate, byte by byte."""
    lines = [line for line in certificate.pem.splitlines() if line and not line.startswith("-")]
    digest = hashlib.sha256(base64.b64decode("".join(lines))).hexdigest().upper()
    return ":".join(digest[place : place + 2] for place in range(0, len(digest), 2))


def certificate_rows(cluster: Cluster, host: str) -> list[dict[str, object]]:
    """The authority of a cluster, and the certificate of a host; none before anybody needs one."""
    rows = []
    if cluster.state.authority is not None:
        rows.append(_certificate_row(cluster.state.authority.certificate, "pve-root-ca.pem"))
    if host in cluster.state.certificates:
        rows.append(_certificate_row(cluster.state.certificates[host], "pve-ssl.pem"))
    return rows


def _certificate_row(certificate: Certificate, filename: str) -> dict[str, object]:
    return {
        "filename": filename,
        "fingerprint": fingerprint_of(certificate),
        "issuer": certificate.issuer,
        "subject": certificate.subject,
        "notbefore": certificate.not_before,
        "notafter": certificate.not_after,
        "pem": certificate.pem,
        "public-key-bits": 256,
        "public-key-type": "id-ecPublicKey",
        "san": list(certificate.names),
    }


_BELOW = (
    "aplinfo", "apt", "capabilities", "ceph", "certificates", "config", "disks", "dns", "firewall",
    "hardware", "hosts", "journal", "lxc", "migrateall", "netstat", "network", "qemu",
    "query-url-metadata", "replication", "report", "rrd", "rrddata", "scan", "sdn", "services",
    "spiceshell", "startall", "status", "stopall", "storage", "subscription", "suspendall",
    "syslog", "tasks", "termproxy", "time", "version", "vncshell", "vncwebsocket", "vzdump",
    "wakeonlan",
)  # fmt: skip
_FLAGS = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl xtopology cpuid pni pclmulqdq vmx ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm abm avx2 bmi1 bmi2 erms"  # noqa: E501
_LOAD = (0.21, 0.18, 0.12)


@endpoint("GET", "/nodes")
def nodes(call: Call) -> object:
    """Hosts; what they use only for who may audit them."""
    return [_row(call, host) for _, host in sorted(call.cluster.state.hosts.items())]


@endpoint("GET", "/nodes/{node}/status")
def status(call: Call) -> object:
    host, release = call.node, release_of(call.cluster.state.profile)
    figures = guest_rows.host_figures(call.cluster, host)
    kernel = host.kernel or release.kernel
    version = f"#1 SMP PREEMPT_DYNAMIC PMX {kernel.removesuffix('-pve')} (2026-01-01T00:00Z)"
    used, disk, room = (int(str(figures[name])) for name in ("mem", "disk", "maxdisk"))
    free = host.memory - used
    memory = {"total": host.memory, "used": used, "free": free}
    if call.cluster.is_nine:
        memory["available"] = free
    return {
        "uptime": figures["uptime"],
        "idle": 0,
        "wait": 0,
        "cpu": figures["cpu"],
        "loadavg": [f"{one:.2f}" for one in _LOAD],
        "kversion": f"Linux {kernel} {version}",
        "current-kernel": {
            "sysname": "Linux",
            "release": kernel,
            "version": version,
            "machine": "x86_64",
        },
        "boot-info": {"mode": "efi", "secureboot": 0},
        "cpuinfo": {
            "cpus": host.cpus,
            "cores": host.cores,
            "sockets": host.sockets,
            "model": host.model,
            "mhz": host.mhz,
            "flags": _FLAGS,
            "hvm": "1",
            "user_hz": 100,
        },
        "memory": memory,
        "swap": {"total": host.swap, "used": 0, "free": host.swap},
        "ksm": {"shared": 0},
        "rootfs": {"total": room, "used": disk, "avail": room - disk, "free": room - disk},
        "pveversion": release.manager,
    }


@endpoint("POST", "/nodes/{node}/status")
def power(call: Call) -> object:
    host_power.request(call.cluster, call.node, reboot=call.text("command") == "reboot")
    return None


@endpoint("GET", "/nodes/{node}/certificates/info")
def certificate_info(call: Call) -> object:
    return certificate_rows(call.cluster, call.node.name)


def _row(call: Call, host: Host) -> dict[str, object]:
    is_seen = call.may(f"/nodes/{host.name}", "Sys.Audit")
    row = guest_rows.host_row(call.cluster, host, is_seen=is_seen)
    if host.name in call.cluster.state.certificates:
        row["ssl_fingerprint"] = fingerprint_of(call.cluster.state.certificates[host.name])
    return row


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


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


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
