"""How busy a machine is: processes, processor, memory, disks and network.

Nothing here is random and nothing changes state. Constants of a machine are derived from its
identity; counters are functions of the clock and of the services that run.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.disks import names

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import Service

_MIB = 1 << 20
_SECTOR = 512
_PACKET = 430
_PID = re.compile(r"PID (\d+)")
_PROGRAMS = {
    "machined": ("/usr/bin/init", "/sbin/init", 118, 0.012),
    "udevd": ("/usr/bin/systemd-udevd", "/sbin/systemd-udevd --resolve-names=never", 9, 0.0002),
    "dashboard": ("/usr/bin/init", "/sbin/dashboard", 74, 0.004),
    "containerd": ("/usr/bin/containerd", "/bin/containerd", 43, 0.002),
    "cri": ("/usr/bin/containerd", "/bin/containerd", 71, 0.009),
    "apid": ("/usr/bin/init", "/apid", 58, 0.003),
    "trustd": ("/usr/bin/init", "/trustd", 52, 0.0005),
    "etcd": ("/usr/local/bin/etcd", "/usr/local/bin/etcd --data-dir=/var/lib/etcd", 92, 0.03),
    "kubelet": ("/usr/local/bin/kubelet", "/usr/local/bin/kubelet", 97, 0.018),
}
"""Executable, arguments, MiB of memory and used cores by service; others are parts of machined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process."""

    pid: int
    executable: str
    args: str
    memory: int
    """Resident, bytes."""
    cores: float
    """Cores that it uses on average."""
    since: float

    def cpu_seconds(self, now: float) -> float:
        return max(now - self.since, 0.0) * self.cores + 0.05


def uptime(machine: Machine) -> float:
    """Seconds since the kernel started."""
    return max(machine.now - machine.state.kernel_at, 0.0)


def constant(machine: Machine, name: str, low: float, high: float) -> float:
    """A number in a range, always the same for one name of one machine."""
    digest = hashlib.sha256(f"{machine.key}/{machine.state.uuid}/{name}".encode()).hexdigest()
    return low + (high - low) * int(digest[:8], 16) / (1 << 32)


def processes(machine: Machine) -> list[Process]:
    """Processes of the running services, by number."""
    running = [
        _process(machine, name, service)
        for name, service in machine.state.services.items()
        if service.is_running and name in _PROGRAMS
    ]
    return sorted(running, key=lambda process: process.pid)


def _process(machine: Machine, name: str, service: Service) -> Process:
    executable, args, memory, cores = _PROGRAMS[name]
    return Process(
        pid=_pid(machine, name, service),
        executable=executable,
        args=args,
        memory=int(memory * _MIB * constant(machine, f"memory/{name}", 0.9, 1.2)),
        cores=cores * constant(machine, f"cores/{name}", 0.7, 1.4),
        since=service.events[-1].at if service.events else machine.state.kernel_at,
    )


def _pid(machine: Machine, name: str, service: Service) -> int:
    """The number that the events of the service name, or one of this boot."""
    if name == "machined":
        return 1
    named = (_PID.search(event.message) for event in reversed(service.events))
    match = next((match for match in named if match is not None), None)
    if match is not None:
        return int(match[1])
    return int(constant(machine, f"pid/{machine.state.boot}/{name}", 2400, 31000))


def busy_cores(machine: Machine) -> float:
    """Cores that are used on average."""
    return sum(process.cores for process in processes(machine)) + 0.01


def load_averages(machine: Machine) -> tuple[float, float, float]:
    """Load of one, five and fifteen minutes; a boot is visible for a while."""
    busy, age = busy_cores(machine), uptime(machine)
    one, five, fifteen = (
        round(busy * 2 + 2.4 * max(1 - age / (seconds * 4), 0.0), 2)
        for seconds in (60.0, 300.0, 900.0)
    )
    return one, five, fifteen


def system_figures(machine: Machine) -> dict[str, object]:
    """What `/proc/stat` says, in seconds: the cores share the work evenly."""
    cores, age = max(machine.state.cores, 1), uptime(machine)
    used = sum(process.cpu_seconds(machine.now) for process in processes(machine))
    busy = min((used + min(age, 14.0)) / cores, age)
    core = {"user": busy * 0.66, "system": busy * 0.31, "iowait": busy * 0.03, "idle": age - busy}
    ticks = int(age * cores * 250)
    return {
        "boot_time": int(machine.clock - age),
        "cpu_total": {name: seconds * cores for name, seconds in core.items()},
        "cpu": [core] * cores,
        "irq_total": ticks,
        "context_switches": int(ticks * 2.7),
        "process_created": 1800 + int(age * 0.6),
        "process_running": 1,
        "soft_irq_total": ticks // 2,
    }


def processor_speed(machine: Machine) -> float:
    """In MHz."""
    return round(constant(machine, "speed", 2200.0, 3600.0), 3)


def processors(machine: Machine) -> list[dict[str, object]]:
    """What `/proc/cpuinfo` says of each core."""
    cores = max(machine.state.cores, 1)
    return [
        {
            "processor": number,
            "vendor_id": "GenuineIntel",
            "model_name": "QEMU Virtual CPU version 2.5+",
            "cpu_mhz": processor_speed(machine),
            "physical_id": "0",
            "siblings": cores,
            "core_id": str(number),
        }
        for number in range(cores)
    ]


def memory_figures(machine: Machine) -> dict[str, int]:
    """Memory in KiB, by the names of the API."""
    size, age = machine.state.memory, uptime(machine)
    total = size - 44 * _MIB - size // 60
    programs = sum(process.memory for process in processes(machine))
    shared = 11 * _MIB
    available = max(total - programs - 90 * _MIB - size // 64 - shared, total // 20)
    share = constant(machine, "cached", 0.25, 0.55) * age / (age + 3600.0)
    figures = {
        "memtotal": total,
        "memfree": available - int(available * share) - int(available * share / 60),
        "memavailable": available,
        "buffers": int(available * share / 60),
        "cached": int(available * share) + shared,
        "anonpages": programs,
        "shmem": shared,
    }
    return {name: value // 1024 for name, value in figures.items()}


def disk_figures(machine: Machine) -> list[dict[str, object]]:
    """Counters of each disk; those of the system disk grow evenly with the clock."""
    view, age = machine.view, uptime(machine)
    rate = 14.0 if machine.runs("etcd") else 3.0
    rows: list[dict[str, object]] = []
    for slot, name in sorted(names(view).items(), key=lambda item: item[1]):
        is_system = slot == machine.state.system_disk
        reads = int(9000 + age * 0.5) if is_system else 0
        writes = int(3000 + age * rate) if is_system else 0
        rows.append(
            {
                "name": name,
                "read_completed": reads,
                "read_sectors": reads * (24 * 1024 // _SECTOR),
                "write_completed": writes,
                "write_sectors": writes * (12 * 1024 // _SECTOR),
            }
        )
    return rows


def network_figures(machine: Machine) -> list[dict[str, object]]:
    """Counters of each link; they grow evenly with the clock, faster while more runs."""
    runs = sum(service.is_running for service in machine.state.services.values())
    rows: list[dict[str, object]] = []
    for link in sorted(machine.state.network.links, key=lambda link: link.index):
        age = uptime(machine) if link.is_up and link.kind != "dummy" else 0.0
        received = int(age * runs * 2600.0 * constant(machine, f"rx/{link.name}", 0.6, 1.6))
        sent = int(age * runs * 2600.0 * constant(machine, f"tx/{link.name}", 0.6, 1.6))
        rows.append(
            {
                "name": link.name,
                "rx_bytes": received,
                "rx_packets": math.ceil(received / _PACKET),
                "tx_bytes": sent,
                "tx_packets": math.ceil(sent / _PACKET),
            }
        )
    return rows


def summed(rows: list[dict[str, object]], name: str) -> dict[str, object]:
    """The counters of all rows together."""
    total: dict[str, object] = {"name": name}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, int):
                before = total.get(key, 0)
                total[key] = value + (before if isinstance(before, int) else 0)
    return total
