"""The console of a machine: what its dashboard shows, and the serial log."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import has_static_pods, is_ready, unmet_conditions

if TYPE_CHECKING:
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import Service

Shown: TypeAlias = dict[str, object]

_NOTHING = "n/a"
_CONTROL_PLANE = ("apiserver", "controller-manager", "scheduler")


def machine_rows(fleet: Fleet) -> list[Shown]:
    """All machines of a world, by name, in a line each."""
    return sorted((_row(machine) for machine in fleet.machines), key=lambda row: str(row["name"]))


def machine_named(fleet: Fleet, name: str) -> Machine | None:
    """The machine with a host name, an address, or the name of its virtual machine."""
    for machine in fleet.machines:
        if name and name in (machine.hostname, machine.state.name, machine.address):
            return machine
    return None


def _row(machine: Machine) -> Shown:
    return {
        "name": machine.hostname or machine.state.name,
        "cluster": machine.state.cluster,
        "vmid": machine.state.vmid,
        "address": machine.address,
        "stage": machine.state.stage.value,
        "version": machine.version,
        "ready": _ready(machine),
    }


def _ready(machine: Machine) -> bool:
    return machine.state.stage is Stage.RUNNING and is_ready(machine)


def console(machine: Machine) -> Shown:
    """Everything that is to be seen on the screen of a machine."""
    state, config = machine.state, machine.config
    unmet = unmet_conditions(machine) if state.is_on else []
    return {
        **_row(machine),
        "host": state.node,
        "uuid": state.uuid,
        "platform": state.platform,
        "schematic": state.schematic,
        "secure_boot": state.secure_boot,
        "halted": state.halted,
        "type": _kind(machine),
        "talos_cluster": _NOTHING if config is None else config.cluster_name,
        "machines": len(machine.land.group(machine)) if config is not None else 0,
        "unmet": [f"{name}: {reason}" for name, reason in unmet],
        "figures": _figures(machine),
        "kubernetes": _kubernetes(machine),
        "network": _network(machine),
        "services": [_service(service) for service in state.services.values()],
        "log": _log(machine),
    }


def _kind(machine: Machine) -> str:
    if machine.config is None:
        return "unknown"
    return "controlplane" if machine.is_controlplane else "worker"


def _figures(machine: Machine) -> Shown:
    if not machine.state.is_on:
        return {}
    from stockman_lab.talos.usage import (
        busy_cores,
        memory_figures,
        processes,
        processor_speed,
        uptime,
    )

    memory = memory_figures(machine)
    used = memory["memtotal"] - memory["memavailable"]
    return {
        "uptime": uptime(machine),
        "cores": machine.state.cores,
        "mhz": processor_speed(machine),
        "cpu": round(min(busy_cores(machine) / max(machine.state.cores, 1), 1.0), 4),
        "memory": machine.state.memory,
        "memory_used": round(used / memory["memtotal"], 4),
        "processes": len(processes(machine)),
    }


def _kubernetes(machine: Machine) -> Shown:
    config = machine.config
    if config is None:
        return {}
    kubelet = machine.service("kubelet")
    shown: Shown = {
        "version": config.kubelet.image.rpartition(":")[2],
        "kubelet": _health(kubelet) if kubelet is not None else _NOTHING,
    }
    if machine.is_controlplane:
        pods = "healthy" if has_static_pods(machine) else "not ready"
        shown |= dict.fromkeys(_CONTROL_PLANE, pods)
    return shown


def _network(machine: Machine) -> Shown:
    network = machine.state.network
    return {
        "hostname": machine.hostname,
        "addresses": [
            address.address
            for address in network.addresses
            if address.link != "lo" and address.scope == "global"
        ],
        "gateways": [
            route.gateway for route in network.routes if not route.destination and route.gateway
        ],
        "reachable": machine.is_reachable,
        "dns": list(network.resolvers),
        "ntp": list(network.time_servers),
        "time_synced": machine.state.is_time_synced,
    }


def _service(service: Service) -> Shown:
    return {
        "id": service.id,
        "state": service.state,
        "health": _health(service),
        "message": service.events[-1].message if service.events else "",
    }


def _health(service: Service) -> str:
    if service.is_healthy is None:
        return "unknown"
    return "healthy" if service.is_healthy else "unhealthy"


def _log(machine: Machine) -> list[str]:
    """Lines of the serial port: seconds since the kernel began, and what it was told."""
    if not machine.version:
        return []
    from stockman_lab.talos.logs import kernel_log

    begun = machine.state.kernel_at
    return [
        f"[{max(log_line.at - begun, 0.0):12.6f}] {log_line.text}"
        for log_line in kernel_log(machine)
    ]
