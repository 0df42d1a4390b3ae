"""Logs of machines: what was noted while the machine ran, after a plausible beginning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stockman_lab.talos.builds import build_of
from stockman_lab.talos.state import LogLine
from stockman_lab.talos.usage import memory_figures

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import Service

CONTROLLERS = "controller-runtime"
_ALWAYS = (CONTROLLERS, "machined")
_OWN_PREFIX = "[talos] "
_BEFORE = 0.01
"""Seconds between the first lines of the kernel and the first one of machined."""
_MICROSECONDS = 1_000_000


def go_time(at: float) -> str:
    """A moment as Go writes it, without zeros at the end: `2026-01-02T03:04:05.5Z`."""
    return _time_text(at, "%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".") + "Z"


def log_time(at: float) -> str:
    """A moment as Go's log package writes it: `2026/01/02 03:04:05.500000`."""
    return _time_text(at, "%Y/%m/%d %H:%M:%S.%f")


def _time_text(at: float, form: str) -> str:
    whole, rest = divmod(round(at * _MICROSECONDS), _MICROSECONDS)
    return datetime.fromtimestamp(whole, UTC).replace(microsecond=rest).strftime(form)


def kernel_log(machine: Machine) -> list[LogLine]:
    """All lines of the kernel, oldest first."""
    state, at = machine.state, machine.state.kernel_at - _BEFORE
    total = memory_figures(machine)["memtotal"]
    texts = (
        f"Linux version {build_of(machine).kernel} (@buildkitsandbox) #1 SMP",
        "KERNEL supported cpus:",
        "  Intel GenuineIntel",
        "  AMD AuthenticAMD",
        "DMI: QEMU Standard PC (Q35 + ICH9, 2009)",
        "Hypervisor detected: KVM",
        f"smpboot: Allowing {state.cores} CPUs, 0 hotplug CPUs",
        f"Memory: {total}K/{state.memory // 1024}K available",
    )
    beginning = [
        LogLine(at + place * 0.001, text, "kern", "info") for place, text in enumerate(texts)
    ]
    return [*beginning, *state.kernel_log]


def kernel_line(line: LogLine) -> bytes:
    """A line of the kernel as it is sent."""
    return f"{line.facility}: {line.priority:>7}: [{go_time(line.at)}]: {line.text}\n".encode()


def registered_logs(machine: Machine) -> list[str]:
    """Names of the logs that were written to."""
    started = [
        service.id
        for service in machine.state.services.values()
        if service.state not in ("Skipped", "Waiting")
    ]
    return sorted({*_ALWAYS, *started, *machine.state.logs})


def service_log(machine: Machine, name: str) -> list[LogLine]:
    """The lines of a log, oldest first."""
    lines = [*_beginning(machine, name)]
    for line in machine.state.logs.get(name, ()):
        text = f"{log_time(line.at)} {line.text}" if name == "machined" else line.text
        lines.append(LogLine(line.at, text))
    return sorted(lines, key=lambda line: line.at)


def _beginning(machine: Machine, name: str) -> Iterator[LogLine]:
    if name == "machined":  # it writes to the log of the kernel as well
        for line in machine.state.kernel_log:
            if line.text.startswith(_OWN_PREFIX):
                yield LogLine(line.at, f"{log_time(line.at)} {line.text}")
    elif name == CONTROLLERS:
        at = machine.state.kernel_at
        yield LogLine(at, f"{go_time(at)} INFO controller runtime starting")
    elif (service := machine.state.services.get(name)) is not None:
        for event in service.events:
            if event.state == "Running" and "ealth" not in event.message:
                for text in _first_lines(machine, service, event.at):
                    yield LogLine(event.at, text)


def _first_lines(machine: Machine, service: Service, at: float) -> list[str]:
    moment = go_time(at)
    if service.id in ("containerd", "cri"):
        version = f"v{build_of(machine).containerd}"
        return [
            _json(level="info", msg="starting containerd", time=moment, version=version),
            _json(level="info", msg="containerd successfully booted in 0.041s", time=moment),
        ]
    if service.id == "kubelet":
        version = machine.config.kubelet.image.rpartition(":")[2] if machine.config else ""
        stamp, caller = round(at * 1000, 3), "app/server.go:529"
        return [_json(ts=stamp, caller=caller, msg="Kubelet version", v=0, kubeletVersion=version)]
    if service.id == "etcd":
        return [_json(level="info", ts=moment, caller="etcdmain/etcd.go:73", msg="Running: ")]
    if service.id in ("apid", "trustd"):
        return [f"{log_time(at)} main.go:62: starting {service.id} {machine.version}"]
    return []


def _json(**fields: object) -> str:
    return json.dumps(fields, separators=(",", ":"))
