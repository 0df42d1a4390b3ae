"""Services that start, run, fall ill and stop."""

from __future__ import annotations

from stockman_lab.core.faults import Effect
from stockman_lab.core.timeline import Arguments
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.pulling import PullFailed
from stockman_lab.talos.services.images import PULL_FAILED, SYSTEM, fetched, image_of
from stockman_lab.talos.services.table import ServiceKind, kind_of
from stockman_lab.talos.state import Service, ServiceEvent

STARTED = "talos.service.started"
ETCD_STARTED = "talos.etcd.started"
_ACTIONS = {
    "Initialized": 0,
    "Preparing": 1,
    "Waiting": 2,
    "Running": 3,
    "Stopping": 4,
    "Finished": 5,
    "Failed": 6,
    "Skipped": 7,
    "Starting": 8,
}
_KEPT = 16
_FIRST_PID = 1700


def become(machine: Machine, service: Service, state: str, message: str) -> None:
    """A service changes its state, and says why."""
    service.version += 1
    service.state = state
    service.events.append(ServiceEvent(state, message, machine.now))
    if len(service.events) > _KEPT:
        del service.events[: len(service.events) - _KEPT]
    machine.note(f"service[{service.id}]({state}): {message}")
    _tell(machine, service, message)
    if state != "Running" and service.is_healthy is not None:
        service.is_healthy, service.health_message = None, ""
        service.health_changed_at = machine.now


def feel(machine: Machine, service: Service, healthy: bool, message: str = "") -> None:
    """A service turns out to be well or ill."""
    if service.is_healthy is healthy and service.health_message == message:
        return
    service.version += 1
    service.is_healthy, service.health_message = healthy, message
    service.health_changed_at = machine.now
    text = "Health check successful" if healthy else f"Health check failed: {message}"
    service.events.append(ServiceEvent(service.state, text, machine.now))
    machine.note(f"service[{service.id}]({service.state}): {text}")
    _tell(machine, service, text)


def _tell(machine: Machine, service: Service, message: str) -> None:
    health: dict[str, object] = {
        "unknown": service.is_healthy is None,
        "healthy": service.is_healthy is True,
        "last_message": service.health_message,
        "last_change": service.health_changed_at or machine.now,
    }
    content: dict[str, object] = {
        "service": service.id,
        "action": _ACTIONS[service.state],
        "message": message,
        "health": health,
    }
    machine.tell("ServiceStateEvent", content)


def start(machine: Machine, name: str) -> Service:
    """Bring a service up; it waits for those that it needs."""
    service = machine.state.services.get(name)
    if service is None:
        service = machine.state.services[name] = Service(name)
    kind = kind_of(name)
    missing = missing_needs(machine, kind)
    if missing:
        waits = ", ".join(f'service "{result}" to be "up"' for result in missing)
        become(machine, service, "Waiting", f"Waiting for {waits}")
        return service
    prepare(machine, service)
    return service


def missing_needs(machine: Machine, kind: ServiceKind) -> list[str]:
    """Services that a kind has to wait for."""
    return [need for need in kind.needs if not machine.runs(need)]


def prepare(machine: Machine, service: Service) -> None:
    """All that a service waited for is there; etcd decides for itself when it goes on."""
    become(machine, service, "Preparing", "Running pre state")
    if service.id != "etcd":
        launch(machine, service)


def launch(machine: Machine, service: Service) -> None:
    """Run a service that is prepared."""
    kind = kind_of(service.id)
    try:
        late = fetched(machine, image_of(machine, service.id), SYSTEM)
    except PullFailed as failed:
        _say(machine, service, "Preparing", f"{PULL_FAILED}: {failed}")
        return
    fault = machine.step_fault(f"service/{service.id}")
    become(machine, service, "Preparing", "Creating service runner")
    if fault is not None and fault.effect is Effect.FAIL:
        become(machine, service, "Failed", fault.message or "failed to start")
    elif fault is None or fault.effect is not Effect.HANG:
        late += fault.seconds if fault is not None else 0.0
        seconds = machine.seconds(kind.timing) + late
        machine.after(seconds, STARTED, service=service.id, version=service.version)


def _say(machine: Machine, service: Service, state: str, message: str) -> None:
    """Become something, unless just that was said before."""
    if not service.events or service.events[-1].message != message:
        become(machine, service, state, message)


def started(machine: Machine, arguments: Arguments) -> None:
    """A service runs now."""
    service = machine.state.services.get(str(arguments["service"]))
    if service is None or service.version != arguments["version"]:
        return
    kind = kind_of(service.id)
    pid = _FIRST_PID + sum(map(ord, service.id)) + machine.state.boot
    text = f"Started task {service.id} (PID {pid}) for container {service.id}"
    if not kind.is_container:
        text = f"Process Process({_program(service.id)}) started with PID {pid}"
    become(machine, service, "Running", text)
    if service.id == "etcd":
        machine.after(0.0, ETCD_STARTED)
    elif kind.has_health and service.id != "kubelet":
        feel(machine, service, True)


def _program(name: str) -> str:
    return f'["/sbin/{name}"]' if name != "machined" else '["/sbin/init"]'


def stop(machine: Machine, name: str) -> None:
    """Bring a service down."""
    service = machine.state.services.get(name)
    if service is None or service.state in ("Finished", "Failed", "Skipped"):
        return
    if service.is_running:
        become(machine, service, "Stopping", f"Sending SIGTERM to task {name}")
    become(machine, service, "Finished", "Service finished successfully")


def go_on(machine: Machine) -> None:
    """Let services go on whose needs are met now."""
    for service in list(machine.state.services.values()):
        if service.state == "Waiting" and not missing_needs(machine, kind_of(service.id)):
            prepare(machine, service)
        elif service.state == "Preparing" and service.events[-1].message.startswith(PULL_FAILED):
            launch(machine, service)
