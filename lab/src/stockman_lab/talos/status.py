"""Whether a machine is ready, and what is missing."""

from __future__ import annotations

from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage

_NUMBERS = {
    Stage.BOOTING: 1,
    Stage.INSTALLING: 2,
    Stage.MAINTENANCE: 3,
    Stage.RUNNING: 4,
    Stage.REBOOTING: 5,
    Stage.SHUTTING_DOWN: 6,
    Stage.RESETTING: 7,
    Stage.UPGRADING: 8,
}


def unmet_conditions(machine: Machine) -> list[tuple[str, str]]:
    """What keeps a machine from being ready: names and reasons."""
    state = machine.state
    if state.stage not in (Stage.BOOTING, Stage.RUNNING):
        return []
    found = []
    if not state.is_time_synced:
        found.append(("time", "time is not synced"))
    network = [
        name
        for name, there in (
            ("address", bool(machine.address)),
            ("connectivity", bool(state.network.routes) or bool(machine.address)),
            ("hostname", bool(state.network.hostname)),
        )
        if not there
    ]
    if network:
        found.append(("network", f"waiting on: {', '.join(network)}"))
    found += _services(machine)
    if machine.is_controlplane and not has_static_pods(machine):
        missing = ", ".join(
            f"kube-system/{text}-{machine.hostname}"
            for text in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        )
        found.append(("staticPods", f"{missing} not ready"))
    if machine.config is not None and not state.kubernetes.node_ready:
        name = machine.hostname
        reason = f'node "{name}" status is not available yet'
        if state.kubernetes.registered:
            reason = f'node "{name}" is not ready'
        found.append(("nodeReady", reason))
    return found


def _services(machine: Machine) -> list[tuple[str, str]]:
    needed = ["apid", "machined", "kubelet"]
    if machine.is_controlplane:
        needed += ["etcd", "trustd"]
    not_running, not_healthy = [], []
    for name in needed:
        service = machine.service(name)
        if service is None or not service.is_running:
            not_running.append(f"{name} not running")
        elif service.is_healthy is not True:
            not_healthy.append(f"{name} not healthy")
    problems = not_running + not_healthy
    return [("services", ", ".join(problems))] if problems else []


def has_static_pods(machine: Machine) -> bool:
    """Whether the control plane's pods of a machine are ready."""
    ready_at = machine.state.kubernetes.static_pods_ready_at
    return ready_at is not None and ready_at <= machine.now


def is_ready(machine: Machine) -> bool:
    return not unmet_conditions(machine)


def tell_status(machine: Machine) -> None:
    """Tell those who follow a machine when its status is another one than before."""
    unmet = unmet_conditions(machine)
    text = f"{machine.state.stage.value} {unmet}"
    if text == machine.state.last_status or machine.state.stage not in _NUMBERS:
        return
    machine.state.last_status = text
    conditions = [{"name": name, "reason": reason} for name, reason in unmet]
    content: dict[str, object] = {
        "stage": _NUMBERS[machine.state.stage],
        "status": {"ready": not unmet, "unmet_conditions": conditions},
    }
    machine.tell("MachineStatusEvent", content)
    if not unmet and machine.state.stage is Stage.RUNNING:
        machine.note("machine is running and ready")
