"""What a machine is, and how busy it is."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.figures import cpu, disk_io, memory, network_io
from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.figures.mounts import mounts
from stockman_lab.talos.figures.processes import processes

_SERVICE = "machine.MachineService"
_MODES = {"metal": "metal", "container": "container"}
_CLOUD = "cloud"


@method(_SERVICE, "Version")
def version(call: Call) -> Fields:
    """Which Talos runs, on which platform. Features are known with a configuration only."""
    machine = call.machine
    build = build_of(machine)
    platform = machine.state.platform
    fields: dict[str, object] = {
        "version": {
            "tag": machine.version,
            "sha": build.sha,
            "built": "",
            "go_version": build.go,
            "os": "linux",
            "arch": machine.state.architecture,
        },
        "platform": {"name": platform, "mode": _MODES.get(platform, _CLOUD)},
    }
    config = machine.config
    if config is not None and not config.is_partial:
        rbac = config.features.rbac if call.minor == "1.11" else True
        fields["features"] = {"rbac": rbac}
    return fields


@method(_SERVICE, "Hostname")
def hostname(call: Call) -> Fields:
    """The name that the kernel knows."""
    return {"hostname": call.machine.hostname or "talos"}


@method(_SERVICE, "SystemStat")
def system_stat(call: Call) -> Fields:
    """What each core did since the machine booted."""
    return cpu.system_figures(call.machine)


@method(_SERVICE, "LoadAvg")
def load_average(call: Call) -> Fields:
    """How much wants to run."""
    one, five, fifteen = cpu.load_averages(call.machine)
    return {"load1": one, "load5": five, "load15": fifteen}


@method(_SERVICE, "Memory")
def memory_figures(call: Call) -> Fields:
    """Memory in KiB."""
    return {"meminfo": memory.memory_figures(call.machine)}


@method(_SERVICE, "CPUInfo")
def cpu_info(call: Call) -> Fields:
    """Which processor it is."""
    return {"cpu_info": cpu.processors(call.machine)}


@method(_SERVICE, "CPUFreqStats")
def cpu_frequencies(call: Call) -> Fields:
    """Nothing for every core: virtual processors have no governor."""
    return {"cpu_freq_stats": [{} for _ in cpu.processors(call.machine)]}


@method(_SERVICE, "DiskStats")
def disk_stats(call: Call) -> Fields:
    """What went to and from disks."""
    machine = call.machine
    return {"total": disk_io.disk_total(machine), "devices": disk_io.disk_figures(machine)}


@method(_SERVICE, "NetworkDeviceStats")
def network_device_stats(call: Call) -> Fields:
    """What went over links."""
    machine = call.machine
    return {
        "total": network_io.network_total(machine),
        "devices": network_io.network_figures(machine),
    }


@method(_SERVICE, "Mounts")
def mounted(call: Call) -> Fields:
    """What is mounted, with sizes in bytes."""
    stats = [
        {
            "filesystem": mount.source,
            "size": mount.size,
            "available": mount.available,
            "mounted_on": mount.target,
        }
        for mount in mounts(call.machine)
    ]
    return {"stats": stats}


@method(_SERVICE, "Processes")
def running(call: Call) -> Fields:
    """What runs."""
    now = call.machine.now
    found = [
        {
            "pid": process.pid,
            "ppid": process.parent,
            "state": "S",
            "threads": process.threads,
            "cpu_time": round(process.cpu_seconds(now), 2),
            "virtual_memory": process.reserved,
            "resident_memory": process.memory,
            "command": process.command,
            "executable": process.executable,
            "args": process.args,
            "label": process.label,
        }
        for process in processes(call.machine)
    ]
    return {"processes": found}
