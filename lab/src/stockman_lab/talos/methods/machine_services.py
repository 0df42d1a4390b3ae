"""Services of a machine."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.machine import Machine
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
