"""Logs of services."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.logs.moments import go_moment, log_moment, zap_moment
from stockman_lab.talos.state import LogLine

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import Service

CONTROLLERS = "controller-runtime"
_ALWAYS = (CONTROLLERS, "machined")
_OWN_PREFIX = "[talos] "


def registered_logs(machine: Machine) -> list[str]:
    """Names of logs that somebody wrote to."""
    started = [
        service.id
        for service in machine.state.services.values()
        if service.state not in ("Skipped", "Waiting")
    ]
    return sorted({*_ALWAYS, *started, *machine.state.logs})


def service_log(machine: Machine, name: str) -> list[LogLine]:
    """The lines of a log, oldest first."""
    log_lines = [*_beginning(machine, name), *_noted(machine, name)]
    return sorted(log_lines, key=lambda line: line.at)


def _noted(machine: Machine, name: str) -> Iterator[LogLine]:
    for line in machine.state.logs.get(name, ()):
        text = f"{log_moment(line.at)} {line.text}" if name == "machined" else line.text
        yield LogLine(line.at, text)


def _beginning(machine: Machine, name: str) -> Iterator[LogLine]:
    if name == "machined":
        yield from _of_machined(machine)
        return
    if name == CONTROLLERS:
        yield from _of_controllers(machine)
        return
    service = machine.state.services.get(name)
    if service is None:
        return
    for event in service.events:
        if event.state == "Running" and "ealth" not in event.message:
            for text in _first_words(machine, service, event.at):
                yield LogLine(event.at, text)


def _of_machined(machine: Machine) -> Iterator[LogLine]:
    """What machined says goes to the kernel's log too."""
    for line in machine.state.kernel_log:
        if line.text.startswith(_OWN_PREFIX):
            yield LogLine(line.at, f"{log_moment(line.at)} {line.text}")


def _of_controllers(machine: Machine) -> Iterator[LogLine]:
    at = machine.state.kernel_at
    names = (
        ("network.LinkSpecController", "INFO", "brought up link"),
        ("network.AddressSpecController", "INFO", "assigned address"),
        ("network.HostnameSpecController", "INFO", "setting hostname"),
    )
    yield LogLine(
        at, f'{zap_moment(at)} INFO controller runtime starting {{"component": "{CONTROLLERS}"}}'
    )
    for controller, level, text in names:
        more = json.dumps({"component": CONTROLLERS, "controller": controller})
        yield LogLine(at + 1, f"{zap_moment(at + 1)} {level} {text} {more}")


def _first_words(machine: Machine, service: Service, at: float) -> list[str]:
    build = build_of(machine)
    moment = go_moment(at)
    if service.id in ("containerd", "cri"):
        return [
            _json(level="info", msg=words, time=moment, **more)
            for words, more in (
                ("starting containerd", {"version": f"v{build.containerd}"}),
                ("serving...", {"address": _address(service.id)}),
                ("containerd successfully booted in 0.041s", {}),
            )
        ]
    if service.id == "kubelet":
        version = machine.config.kubelet.image.rpartition(":")[2] if machine.config else ""
        stamp = round(at * 1000, 3)
        caller = "app/server.go:529"
        return [
            _json(ts=stamp, caller=caller, msg="Kubelet version", v=0, kubeletVersion=version),
            _json(ts=stamp, caller="kubelet/kubelet.go:2521", msg="SyncLoop ADD", v=2),
        ]
    if service.id == "etcd":
        return [
            _json(level="info", ts=moment, caller=caller, msg=words)
            for caller, words in (
                ("etcdmain/etcd.go:73", "Running: "),
                ("embed/etcd.go:138", "configuring peer listeners"),
                ("embed/etcd.go:146", "configuring client listeners"),
            )
        ]
    if service.id in ("apid", "trustd"):
        return [f"{log_moment(at)} main.go:62: starting {service.id} {machine.version}"]
    if service.id == "udevd":
        return ["starting version 257.8"]
    return []


def _json(**told: object) -> str:
    return json.dumps(told, separators=(",", ":"))


def _address(service: str) -> str:
    folder = "/run/containerd" if service == "cri" else "/system/run/containerd"
    return f"{folder}/containerd.sock"
