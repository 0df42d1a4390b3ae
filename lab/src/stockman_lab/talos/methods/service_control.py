"""Services that are started, stopped and restarted by request."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.services import running
from stockman_lab.talos.services.table import kind_of
from stockman_lab.talos.state import Service


@method("machine.MachineService", "ServiceList")
def service_list(call: Call) -> Fields:
    """All services by name, with what happened to each of them."""
    machine = call.machine
    services = sorted(machine.state.services.values(), key=lambda one: one.id)
    return {"services": [_service(machine, service) for service in services]}


def _service(machine: Machine, service: Service) -> Fields:
    changed = service.health_changed_at or machine.state.kernel_at
    return {
        "id": service.id,
        "state": service.state,
        "events": {
            "events": [
                {"msg": event.message, "state": event.state, "ts": event.at}
                for event in service.events
            ]
        },
        "health": {
            "unknown": service.is_healthy is None,
            "healthy": service.is_healthy is True,
            "last_message": service.health_message,
            "last_change": changed,
        },
    }


_SERVICE = "machine.MachineService"
_VERBS = {"start": "started", "stop": "stopped", "restart": "restarted"}


def _found(call: Call, verb: str) -> Service:
    name = call.request.id
    service = call.machine.service(name)
    if service is None:
        raise Refusal(GrpcCode.UNKNOWN, f'service "{name}" not defined')
    if verb not in kind_of(name).by_request:
        raise Refusal(
            GrpcCode.UNKNOWN, f'service "{name}" doesn\'t support {verb} operation via API'
        )
    return service


def _answer(call: Call, verb: str) -> Fields:
    call.land.settle(call.machine)
    return {"resp": f'Service "{call.request.id}" {_VERBS[verb]}'}


@method(_SERVICE, "ServiceStart")
def start(call: Call) -> Fields:
    """Bring a service up."""
    service = _found(call, "start")
    if not service.is_running:
        running.start(call.machine, service.id)
    return _answer(call, "start")


@method(_SERVICE, "ServiceStop")
def stop(call: Call) -> Fields:
    """Bring a service down."""
    running.stop(call.machine, _found(call, "stop").id)
    return _answer(call, "stop")


@method(_SERVICE, "ServiceRestart")
def restart(call: Call) -> Fields:
    """Bring a service down and up again."""
    service = _found(call, "restart")
    running.stop(call.machine, service.id)
    running.start(call.machine, service.id)
    return _answer(call, "restart")
