"""The processor: how many cores, how fast, how busy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures.processes import processes
from stockman_lab.talos.figures.steady import between, wave, whole
from stockman_lab.talos.figures.uptime import boot_moment, uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_FLAGS = """
fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse
sse2 ht syscall nx rdtscp lm constant_tsc nopl xtopology cpuid tsc_known_freq pni pclmulqdq
ssse3 cx16 sse4_1 sse4_2 x2apic popcnt aes hypervisor lahf_lm cpuid_fault pti
"""
_MODEL = "QEMU Virtual CPU version 2.5+"
_FIRST_BUSY = 14.0
"""Seconds of the processor that a boot takes."""
_SHARES = {"user": 0.62, "system": 0.29, "iowait": 0.05, "irq": 0.0, "soft_irq": 0.03}


def busy_cores(machine: Machine) -> float:
    """How many cores are at work on average: a constant of the machine and of what runs."""
    return sum(process.cores for process in processes(machine)) + 0.01


def load_averages(machine: Machine) -> tuple[float, float, float]:
    """Load of one, five and fifteen minutes; a boot is still seen for a while."""
    busy = busy_cores(machine)
    age = uptime(machine)
    found = []
    for seconds in (60.0, 300.0, 900.0):
        boot = 2.4 * max(1 - age / (seconds * 4), 0.0)
        moving = 0.35 * busy * wave(machine, f"load/{seconds}", seconds * 7)
        found.append(round(max(busy * 2 + moving, 0.0) + boot, 2))
    return found[0], found[1], found[2]


def cpu_seconds(machine: Machine) -> list[dict[str, float]]:
    """For each core what it did since the machine booted, in seconds."""
    cores = max(machine.state.cores, 1)
    age = uptime(machine)
    now = machine.now
    used = sum(process.cpu_seconds(now) for process in processes(machine)) + min(age, _FIRST_BUSY)
    weights = [between(machine, f"core/{number}", 0.8, 1.2) for number in range(cores)]
    found = []
    for weight in weights:
        busy = min(used * weight / sum(weights), age)
        core = {name: round(busy * share, 2) for name, share in _SHARES.items()}
        core["idle"] = round(max(age - busy, 0.0), 2)
        found.append(core)
    return found


def system_figures(machine: Machine) -> dict[str, object]:
    """What `/proc/stat` tells."""
    cores = cpu_seconds(machine)
    total = {name: round(sum(core[name] for core in cores), 2) for name in cores[0]}
    age = uptime(machine)
    ticks = int(age * len(cores) * between(machine, "ticks", 180, 320))
    soft = _soft_interrupts(ticks)
    return {
        "boot_time": int(boot_moment(machine)),
        "cpu_total": total,
        "cpu": cores,
        "irq_total": ticks,
        "irq": [],
        "context_switches": int(ticks * 2.7),
        "process_created": 1800 + int(age * 0.6),
        "process_running": 1 + whole(machine, f"running/{int(machine.now / 5)}", 0, 2),
        "process_blocked": 0,
        "soft_irq_total": sum(soft.values()),
        "soft_irq": soft,
    }


def _soft_interrupts(ticks: int) -> dict[str, int]:
    return {
        "hi": 0,
        "timer": ticks // 4,
        "net_tx": ticks // 2000,
        "net_rx": ticks // 9,
        "block": ticks // 60,
        "block_io_poll": 0,
        "tasklet": ticks // 900,
        "sched": ticks // 3,
        "hrtimer": 0,
        "rcu": ticks // 3,
    }


def processor_speed(machine: Machine) -> float:
    """In MHz: a constant of the machine."""
    return round(between(machine, "speed", 2200.0, 3600.0), 3)


def processors(machine: Machine) -> list[dict[str, object]]:
    """What `/proc/cpuinfo` tells of each core: constants."""
    cores = max(machine.state.cores, 1)
    speed = processor_speed(machine)
    return [
        {
            "processor": number,
            "vendor_id": "GenuineIntel",
            "cpu_family": "15",
            "model": "107",
            "model_name": _MODEL,
            "stepping": "1",
            "microcode": "0x1",
            "cpu_mhz": speed,
            "cache_size": "16384 KB",
            "physical_id": "0",
            "siblings": cores,
            "core_id": str(number),
            "apic_id": str(number),
            "initial_apic_id": str(number),
            "fpu": "yes",
            "fpu_exception": "yes",
            "cpu_id_level": 13,
            "wp": "yes",
            "flags": _FLAGS.split(),
            "bugs": ["cpu_meltdown", "spectre_v1", "spectre_v2", "spec_store_bypass", "l1tf"],
            "bogo_mips": round(speed * 2, 2),
            "cl_flush_size": 64,
            "cache_alignment": 64,
            "address_sizes": "40 bits physical, 48 bits virtual",
        }
        for number in range(cores)
    ]
