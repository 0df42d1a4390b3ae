"""What a machine is, and how busy it is."""

from __future__ import annotations

from stockman_lab.talos import usage
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.builds import build_of

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
    return usage.system_figures(call.machine)


@method(_SERVICE, "LoadAvg")
def load_average(call: Call) -> Fields:
    """The load of one, five and fifteen minutes."""
    one, five, fifteen = usage.load_averages(call.machine)
    return {"load1": one, "load5": five, "load15": fifteen}


@method(_SERVICE, "Memory")
def memory(call: Call) -> Fields:
    """Memory in KiB."""
    return {"meminfo": usage.memory_figures(call.machine)}


@method(_SERVICE, "CPUInfo")
def cpu_info(call: Call) -> Fields:
    """Which processor it is."""
    return {"cpu_info": usage.processors(call.machine)}


@method(_SERVICE, "CPUFreqStats")
def cpu_frequencies(call: Call) -> Fields:
    """Nothing for every core: virtual processors have no governor."""
    return {"cpu_freq_stats": [{} for _ in usage.processors(call.machine)]}


@method(_SERVICE, "DiskStats")
def disk_stats(call: Call) -> Fields:
    """Counters of disks."""
    rows = usage.disk_figures(call.machine)
    return {"total": usage.summed(rows, ""), "devices": rows}


@method(_SERVICE, "NetworkDeviceStats")
def network_device_stats(call: Call) -> Fields:
    """Counters of links."""
    rows = usage.network_figures(call.machine)
    name = ", ".join(str(row["name"]) for row in rows)
    return {"total": usage.summed(rows, name), "devices": rows}


@method(_SERVICE, "Processes")
def processes(call: Call) -> Fields:
    """Running processes."""
    now = call.machine.now
    rows = [
        {
            "pid": process.pid,
            "ppid": 0 if process.pid == 1 else 1,
            "state": "S",
            "threads": 10,
            "cpu_time": round(process.cpu_seconds(now), 2),
            "virtual_memory": process.memory + 1150 * (1 << 20),
            "resident_memory": process.memory,
            "command": process.executable.rpartition("/")[2][:15],
            "executable": process.executable,
            "args": process.args,
        }
        for process in usage.processes(call.machine)
    ]
    return {"processes": rows}
