"""Who may look at which resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.api.roles import ADMIN
from stockman_lab.talos.cosi.collection import Collection, collection
from stockman_lab.talos.cosi.registry import Kind, kind_of
from stockman_lab.talos.cosi.tables import Definition, definitions, namespaces

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call


def looked_at(call: Call) -> Collection:
    """The resources that a call asks for, where it may: type and namespace are in its request.

    A kind in another namespace than its own has nothing in it.
    """
    definition = allowed(call)
    kind = kind_of(definition.type)
    if kind is None or call.request.namespace != definition.namespace:
        kind = Kind(definition.type, "", lambda machine: {})
        return Collection(call.machine, definition, kind, call.machine.state.boot)
    return collection(call.machine, definition, kind)


def allowed(call: Call) -> Definition:
    """The definition of the type that a call asks for, where it may ask for it."""
    name, namespace = str(call.request.type), str(call.request.namespace)
    definition = definitions(call.minor).get(name.lower())
    if definition is None:
        raise Refusal(GrpcCode.PERMISSION_DENIED, f'resource type "{name}" is not supported')
    if definition.is_sensitive and ADMIN not in call.roles:
        raise Refusal(GrpcCode.PERMISSION_DENIED, "not authorized")
    if namespace not in namespaces(call.minor):
        raise Refusal(GrpcCode.PERMISSION_DENIED, f'namespace "{namespace}" is not supported')
    return definition
