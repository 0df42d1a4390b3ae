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
            "controller_name": edge.controller,
            "edge_type": edge.kind,
            "resource_namespace": edge.namespace,
            "resource_type": edge.type,
            "resource_id": edge.id,
        }
        for edge in edges_of(call.minor)
    ]
    return {"edges": edges}
