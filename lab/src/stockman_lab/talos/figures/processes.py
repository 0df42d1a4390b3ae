"""Processes of a machine, by what runs on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.names import container_pid, service_pid
from stockman_lab.talos.figures.pods import Pod, pods
from stockman_lab.talos.figures.programs import (
    CRI_SOCKET,
    EXTENSION,
    PROGRAMS,
    SYSTEM_SOCKET,
    Program,
)
from stockman_lab.talos.figures.steady import between
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_SHIM = "/usr/bin/containerd-shim-runc-v2"
_LABEL = "system_u:system_r:{}:s0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process."""

    pid: int
    parent: int
    executable: str
    args: str
    threads: int
    memory: int
    """Resident, bytes."""
    reserved: int
    """Virtual, bytes."""
    cores: float
    """How much of the processor it takes all the time."""
    since: float
    label: str
    cgroup: str
    """Its place under `/sys/fs/cgroup`."""

    @property
    def command(self) -> str:
        """Its short name, which has at most fifteen letters."""
        return self.executable.rpartition("/")[2][:15]

    def cpu_seconds(self, now: float) -> float:
        """What it has used of the processor."""
        return max(now - self.since, 0.0) * self.cores + 0.05


def processes(machine: Machine) -> list[Process]:
    """All processes that have a program, by number; threads of the kernel are left out."""
    found = []
    for name, service in machine.state.services.items():
        kind = PROGRAMS.get(name)
        if kind is None and name.startswith("ext-"):
            kind = EXTENSION
        if kind is not None and service.is_running:
            found += _of_service(machine, name, kind)
    for pod in pods(machine):
        found += _of_pod(machine, pod)
    return sorted(found, key=lambda one: one.pid)


def _of_pod(machine: Machine, pod: Pod) -> list[Process]:
    """The process of a container; with the first one of a pod, those of the pod itself."""
    shim = container_pid(machine, f"{pod.id}/shim")
    group = "/".join(one for one in ("kubepods", pod.quality, f"pod{pod.uid}") if one)
    label = _LABEL.format("pod_t")
    own = Process(
        pid=pod.pid,
        parent=shim,
        executable=pod.program,
        args=pod.program,
        threads=10,
        memory=pod.memory,
        reserved=pod.memory + 1200 * _MIB,
        cores=pod.cores,
        since=pod.since,
        label=label,
        cgroup=f"{group}/{pod.container_id}",
    )
    if not pod.is_first:
        return [own]
    pause = Process(
        pid=pod.sandbox_pid,
        parent=shim,
        executable="/pause",
        args="/pause",
        threads=1,
        memory=_MIB // 2,
        reserved=_MIB,
        cores=0.0,
        since=pod.since,
        label=label,
        cgroup=f"{group}/{pod.sandbox_id}",
    )
    return [_shim(machine, shim, CRI_SOCKET, "k8s.io", pod.sandbox_id), pause, own]


def _of_service(machine: Machine, name: str, kind: Program) -> list[Process]:
    pid = service_pid(machine, name)
    program = name.removeprefix("ext-")
    parent, service = (0 if pid == 1 else 1), []
    if kind.shim:
        parent = container_pid(machine, f"{name}/shim")
        service.append(_shim(machine, parent, kind.shim, "system", name))
    slow = min(uptime(machine) / 86400.0, 1.0) * 0.1
    memory = int(kind.memory * _MIB * (between(machine, f"memory/{name}", 0.9, 1.15) + slow))
    service.append(
        Process(
            pid=pid,
            parent=parent,
            executable=kind.executable.format(program),
            args=kind.args.format(program),
            threads=kind.threads,
            memory=memory,
            reserved=memory + 1150 * _MIB,
            cores=kind.cores * between(machine, f"cores/{name}", 0.7, 1.4),
            since=machine.state.services[name].events[-1].at
            if machine.state.services[name].events
            else machine.state.kernel_at,
            label=_LABEL.format(kind.label),
            cgroup=kind.cgroup.format(name),
        )
    )
    return service


def _shim(machine: Machine, pid: int, socket: str, namespace: str, name: str) -> Process:
    is_system = socket == SYSTEM_SOCKET
    return Process(
        pid=pid,
        parent=1,
        executable=_SHIM,
        args=f"{_SHIM} -namespace {namespace} -id {name} -address {socket}",
        threads=10,
        memory=13 * _MIB,
        reserved=1240 * _MIB,
        cores=0.0004,
        since=machine.state.kernel_at,
        label=_LABEL.format("sys_containerd_t" if is_system else "pod_containerd_t"),
        cgroup="system/runtime" if is_system else "podruntime/runtime",
    )
