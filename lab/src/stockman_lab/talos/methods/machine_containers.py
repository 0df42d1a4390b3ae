"""Containers of a machine."""

from __future__ import annotations

from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Fields, method
from stockman_lab.talos.containers.listing import listed

_SERVICE = "machine.MachineService"


@method(_SERVICE, "Containers")
def containers(call: Call) -> Fields:
    """Containers of a namespace."""
    namespace = call.request.namespace
    found = [
        {
            "namespace": namespace,
            "id": one.id,
            "image": one.image,
            "pid": one.pid,
            "status": one.status,
            "pod_id": one.pod_id,
            "name": one.name,
            "network_namespace": one.network_namespace,
            "internal_id": one.internal_id,
            "uid": one.uid,
        }
        for one in listed(call.machine, namespace, call.request.driver)
    ]
    return {"containers": found}


@method(_SERVICE, "Stats")
def stats(call: Call) -> Fields:
    """What containers of a namespace use; sandboxes of pods use nothing."""
    namespace = call.request.namespace
    found = [
        {
            "namespace": namespace,
            "id": one.id,
            "pod_id": one.pod_id,
            "name": one.name,
            "memory_usage": one.memory,
            "cpu_usage": one.cpu,
        }
        for one in listed(call.machine, namespace, call.request.driver)
    ]
    return {"stats": found}
