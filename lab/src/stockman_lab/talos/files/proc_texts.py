"""What the kernel writes into its files: the figures of a machine as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures import cpu, disk_io, memory, network_io
from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.figures.mounts import mounts
from stockman_lab.talos.figures.processes import processes
from stockman_lab.talos.figures.sizes import device_sizes
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


def version_text(machine: Machine) -> str:
    """`/proc/version`."""
    kernel = build_of(machine).kernel
    return f"Linux version {kernel} (@buildkitsandbox) #1 SMP\n"


def uptime_text(machine: Machine) -> str:
    """`/proc/uptime`."""
    idle = sum(cpu_second["idle"] for cpu_second in cpu.cpu_seconds(machine))
    return f"{uptime(machine):.2f} {idle:.2f}\n"


def load_text(machine: Machine) -> str:
    """`/proc/loadavg`."""
    one, five, fifteen = cpu.load_averages(machine)
    running = processes(machine)
    threads = sum(process.threads for process in running)
    last = max((process.pid for process in running), default=1)
    return f"{one:.2f} {five:.2f} {fifteen:.2f} 1/{threads} {last}\n"


def memory_text(machine: Machine) -> str:
    """`/proc/meminfo`."""
    figures = memory.memory_figures(machine)
    lines = [
        f"{shown + ':':<16}{figures.get(name, 0):>8} kB\n" for name, shown in memory.NAMES.items()
    ]
    return "".join(lines)


def processors_text(machine: Machine) -> str:
    """`/proc/cpuinfo`."""
    found = []
    for processor in cpu.processors(machine):
        lines = []
        for name, value in processor.items():
            shown = _SHOWN.get(name, name.replace("_", " "))
            text = " ".join(value) if isinstance(value, list) else value
            lines.append(f"{shown}\t: {text}\n")
        found.append("".join(lines))
    return "\n".join(found) + "\n"


_SHOWN = {
    "vendor_id": "vendor_id",
    "cpu_mhz": "cpu MHz",
    "apic_id": "apicid",
    "initial_apic_id": "initial apicid",
    "fpu_exception": "fpu_exception",
    "cpu_id_level": "cpuid level",
    "bogo_mips": "bogomips",
    "cl_flush_size": "clflush size",
    "cache_alignment": "cache_alignment",
}


def mounts_text(machine: Machine) -> str:
    """`/proc/mounts`."""
    return "".join(
        f"{mount.source} {mount.target} {mount.kind} {mount.options} 0 0\n"
        for mount in mounts(machine)
    )


def stat_text(machine: Machine) -> str:
    """`/proc/stat`."""
    cores = cpu.cpu_seconds(machine)
    lines = [_core("cpu", {name: sum(core[name] for core in cores) for name in cores[0]})]
    lines += [_core(f"cpu{number}", core) for number, core in enumerate(cores)]
    figures = cpu.system_figures(machine)
    lines += [
        f"ctxt {figures['context_switches']}",
        f"btime {figures['boot_time']}",
        f"processes {figures['process_created']}",
        f"procs_running {figures['process_running']}",
        f"procs_blocked {figures['process_blocked']}",
    ]
    return "\n".join(lines) + "\n"


def _core(name: str, seconds: dict[str, float]) -> str:
    order = ("user", "nice", "system", "idle", "iowait", "irq", "soft_irq", "steal")
    ticks = " ".join(str(int(seconds.get(one, 0.0) * 100)) for one in order)
    return f"{name} {ticks} 0 0"


def partitions_text(machine: Machine) -> str:
    """`/proc/partitions`."""
    sizes = device_sizes(machine)
    lines = [
        f"{major:>4} {minor:>8} {sizes.get(name, 0) // 1024:>10} {name}\n"
        for name, major, minor in disk_io.block_devices(machine)
        if sizes.get(name)
    ]
    return "major minor  #blocks  name\n\n" + "".join(lines)


def disks_text(machine: Machine) -> str:
    """`/proc/diskstats`."""
    numbers = {name: (major, minor) for name, major, minor in disk_io.block_devices(machine)}
    lines = []
    for figures in disk_io.disk_figures(machine):
        major, minor = numbers[str(figures["name"])]
        values = " ".join(str(value) for name, value in figures.items() if name != "name")
        lines.append(f"{major:>4} {minor:>7} {figures['name']} {values} 0 0\n")
    return "".join(lines)


def links_text(machine: Machine) -> str:
    """`/proc/net/dev`."""
    head = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast"
        "|bytes    packets errs drop fifo colls carrier compressed\n"
    )
    lines = [
        f"{card['name']:>6}: {card['rx_bytes']} {card['rx_packets']} 0 0 0 0 0"
        f" {card['rx_multicast']} "
        f"{card['tx_bytes']} {card['tx_packets']} 0 0 0 0 0 0\n"
        for card in network_io.network_figures(machine)
    ]
    return head + "".join(lines)
