"""Which resources of a kind somebody asks for: by labels, and by ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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

_EXISTS, _EQUAL, _NOT_EXISTS, _IN, _LESS, _NOT_MORE, _LESS_NUMERIC, _NOT_MORE_NUMERIC = range(8)


def wanted(options: Dynamic) -> Wanted:
    """What options of a list or of a watch ask for; all label queries count as alternatives."""
    queries = [list(one.terms) for one in options.label_query]
    for term in (term for terms in queries for term in terms):
        if not _EXISTS <= term.op <= _NOT_MORE_NUMERIC:
            raise Refusal(GrpcCode.UNIMPLEMENTED, f"unsupported label query operator: {term.op}")
    expression = _expression(options.id_query.regexp)

    def fits(resource: Seen) -> bool:
        if expression is not None and expression.search(resource.id) is None:
            return False
        return not queries or any(_fits(terms, resource.labels) for terms in queries)

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


def _fits(terms: Iterable[Dynamic], labels: Mapping[str, str]) -> bool:
    return all(_term_fits(term, labels) for term in terms)


def _term_fits(term: Dynamic, labels: Mapping[str, str]) -> bool:
    held = labels.get(term.key)
    if term.op == _NOT_EXISTS:
        return held is None
    return (held is not None and _compares(term.op, held, list(term.value))) is not term.invert


def _compares(operation: int, held: str, values: list[str]) -> bool:
    if operation == _EXISTS:
        return True
    if operation == _IN:
        return held in values
    value = values[0] if values else ""
    if operation == _EQUAL:
        return held == value
    if operation in (_LESS, _NOT_MORE):
        return held < value or (operation == _NOT_MORE and held == value)
    try:
        one, other = int(held), int(value)
    except ValueError:
        return False
    return one < other or (operation == _NOT_MORE_NUMERIC and one == other)
