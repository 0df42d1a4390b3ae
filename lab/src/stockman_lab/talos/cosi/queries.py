"""Which resources of a kind somebody asks for, by ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.values import Dynamic
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.api.roles import ADMIN
from stockman_lab.talos.cosi.collection import Collection, collection
from stockman_lab.talos.cosi.registry import ResourceKind, kind_of
from stockman_lab.talos.cosi.seen import Seen
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
        kind = ResourceKind(definition.type, "", lambda machine: {})
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


Wanted: TypeAlias = Callable[[Seen], bool]


def wanted(options: Dynamic) -> Wanted:
    """What options of a list or of a watch ask for."""
    if options.label_query:
        raise Refusal(GrpcCode.UNIMPLEMENTED, "the lab does not select by labels")
    expression = _expression(options.id_query.regexp)

    def fits(resource: Seen) -> bool:
        return expression is None or expression.search(resource.id) is not None

    return fits


def _expression(text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT,
            f"failed to compile regexp: error parsing regexp: {error.msg}: `{text}`",
        ) from error
