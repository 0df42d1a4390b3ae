"""Groups of processes under `/sys/fs/cgroup`, with what each of them uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.disk_io import block_devices, disk_figures
from stockman_lab.talos.figures.partitions import system_partitions
from stockman_lab.talos.figures.processes import Process, processes

if TYPE_CHECKING:
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_ROOT = "/sys/fs/cgroup"
_ALWAYS = ("init", "system", "podruntime", "kubepods", "kubepods/besteffort", "kubepods/burstable")
_CONTROLLERS = "cpuset cpu io memory hugetlb pids rdma misc\n"
_WEIGHTS = {"init": 79, "system": 59, "podruntime": 79}
_MIB = 1 << 20
_RESERVED = {"init": 96 * _MIB, "system": 96 * _MIB, "podruntime": 256 * _MIB}
_QUIET = "avg10=0.00 avg60=0.00 avg300=0.00 total="


@dataclass(slots=True)
class _Group:
    own: list[Process] = field(default_factory=list)
    every: list[Process] = field(default_factory=list)
    """With those of all groups below."""


def add_cgroups(tree: Tree, machine: Machine) -> None:
    """All groups; what one uses is what those below it use together."""
    groups: dict[str, _Group] = {"": _Group()}
    for name in _ALWAYS:
        groups[name] = _Group()
    for process in processes(machine):
        above = ""
        groups[""].every.append(process)
        for part in process.cgroup.split("/"):
            above = f"{above}/{part}".lstrip("/")
            groups.setdefault(above, _Group()).every.append(process)
        groups[process.cgroup].own.append(process)
    disk = _system_disk(machine)
    for name, group in groups.items():
        files = _files(machine, name, group) | {"io.stat": _io_stat(disk, name)}
        for file, text in files.items():
            tree.file(f"{_ROOT}/{name}/{file}".replace("//", "/"), text, size=0)


def _files(machine: Machine, name: str, group: _Group) -> dict[str, str]:
    seconds = sum(one.cpu_seconds(machine.now) for one in group.every)
    used = int(seconds * 1_000_000)
    threads = sum(one.threads for one in group.every)
    held = sum(one.memory for one in group.every)
    files = {
        "cgroup.controllers": _CONTROLLERS,
        "cgroup.procs": "".join(f"{one.pid}\n" for one in group.own),
        "cgroup.threads": "".join(f"{one.pid}\n" for one in group.own),
        "cgroup.subtree_control": _CONTROLLERS,
        "cpu.stat": _cpu_stat(used),
        "cpu.pressure": _pressure(used // 2000),
        "io.pressure": _pressure(used // 900),
        "memory.pressure": _pressure(0),
        "memory.stat": _memory_stat(held),
    }
    if not name:
        return files
    first = name.partition("/")[0]
    return files | {
        "cgroup.events": f"populated {int(bool(group.every))}\nfrozen 0\n",
        "cgroup.freeze": "0\n",
        "cgroup.type": "domain\n",
        "cpu.idle": "0\n",
        "cpu.max": "max 100000\n",
        "cpu.max.burst": "0\n",
        "cpu.weight": f"{_WEIGHTS.get(name, 100)}\n",
        "cpu.weight.nice": "0\n",
        "cpuset.cpus": "\n",
        "cpuset.cpus.effective": f"0-{max(machine.state.cores, 1) - 1}\n",
        "cpuset.mems": "\n",
        "cpuset.mems.effective": "0\n",
        "memory.current": f"{held + held // 3}\n",
        "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
        "memory.high": "max\n",
        "memory.low": f"{_RESERVED.get(first, 0) * 2 if name == first else 0}\n",
        "memory.max": "max\n",
        "memory.min": f"{_RESERVED.get(first, 0) if name == first else 0}\n",
        "memory.oom.group": "0\n",
        "memory.peak": f"{held + held // 2}\n",
        "memory.swap.current": "0\n",
        "memory.swap.high": "max\n",
        "memory.swap.max": "max\n",
        "memory.swap.peak": "0\n",
        "memory.zswap.current": "0\n",
        "memory.zswap.max": "max\n",
        "memory.zswap.writeback": "1\n",
        "pids.current": f"{threads}\n",
        "pids.events": "max 0\n",
        "pids.max": "max\n",
        "pids.peak": f"{threads + threads // 4}\n",
    }


def _cpu_stat(used: int) -> str:
    times = f"usage_usec {used}\nuser_usec {used * 2 // 3}\nsystem_usec {used - used * 2 // 3}\n"
    limits = "nice_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"
    return f"{times}{limits}nr_bursts 0\nburst_usec 0\n"


def _pressure(microseconds: int) -> str:
    return f"some {_QUIET}{microseconds}\nfull {_QUIET}{microseconds * 3 // 4}\n"


def _memory_stat(held: int) -> str:
    return f"anon {held}\nfile {held // 3}\nkernel {held // 20}\nslab {held // 30}\nsock 0\n"


def _io_stat(disk: tuple[str, int, int] | None, name: str) -> str:
    """What went to the system disk; the groups share it with fixed parts."""
    part = {"": 1.0, "podruntime": 0.6, "podruntime/etcd": 0.5, "kubepods": 0.2}.get(name, 0.0)
    if not part or disk is None:
        return ""
    number, reads, writes = disk
    return (
        f"{number} rbytes={int(reads * 24576 * part)} wbytes={int(writes * 12288 * part)} "
        f"rios={int(reads * part)} wios={int(writes * part)} dbytes=0 dios=0\n"
    )


def _system_disk(machine: Machine) -> tuple[str, int, int] | None:
    """The number of the system disk, and what was read and written. None: there is none."""
    partitions = system_partitions(machine)
    if not partitions:
        return None
    name = partitions[0].disk
    figures = next(
        disk_figure for disk_figure in disk_figures(machine) if disk_figure["name"] == name
    )
    numbers = {one: (major, minor) for one, major, minor in block_devices(machine)}
    reads, writes = (int(str(figures[one])) for one in ("read_completed", "write_completed"))
    return ":".join(map(str, numbers[name])), reads, writes
