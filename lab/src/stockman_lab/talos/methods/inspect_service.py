"""What Talos tells of its own workings."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.figures.controllers import edges_of


@method("inspect.InspectService", "ControllerRuntimeDependencies")
def controller_dependencies(call: Call) -> Fields:
    """Which controllers read and write which resources."""
    edges = [
        {
            "controller_name": one.controller,
            "edge_type": one.kind,
            "resource_namespace": one.namespace,
            "resource_type": one.type,
            "resource_id": one.id,
        }
        for one in edges_of(call.minor)
    ]
    return {"edges": edges}
