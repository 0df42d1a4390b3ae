"""Paths of requests: which objects they are about."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.failures import About, Failure, Named, bad_request, not_found
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.types import Types

_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT = {
    "GET": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "POST": "create",
}


@dataclass(frozen=True, slots=True)
class Route:
    """What a path says."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    verb: str = ""
    rest: str = ""
    """What follows a subresource, as behind `proxy`."""


class NotAnObject(Exception):
    """A path that is not about objects."""


def absent() -> Failure:
    """There is no such resource."""
    text = "the server could not find the requested resource"
    return Failure(404, "NotFound", text, About())


def not_allowed() -> Failure:
    """The resource does not know the method."""
    text = "the server does not allow this method on the requested resource"
    return Failure(405, "MethodNotAllowed", text, About())


def read_route(method: str, path: str, types: Types) -> Route:
    """What a request is about; raises `NotAnObject` or `Failure`."""
    group, version, parts = _split(path)
    if not types.serves(group, version):
        if any(one.name == group for one in types.groups()):
            raise absent()
        raise NotAnObject
    watches = parts[:1] == ["watch"]
    if watches:
        parts = parts[1:]
    if not parts:
        raise NotAnObject
    route = _route(group, version, parts, types)
    if watches:
        if method != "GET":
            raise not_allowed()
        return Route(route.resource, route.namespace, route.name, verb="watch")
    return _with_verb(route, method)


def _split(path: str) -> tuple[str, str, list[str]]:
    parts = path.removesuffix("/").split("/")[1:]
    match parts:
        case ["api", version, *rest]:
            return "", version, rest
        case ["apis", group, version, *rest]:
            return group, version, rest
    raise NotAnObject


def _route(group: str, version: str, parts: list[str], types: Types) -> Route:
    namespace = ""
    if parts[:2] == ["namespaces", ""] and len(parts) > 2:
        raise bad_request("Namespace parameter required.")
    if "" in parts:
        raise absent()
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] not in {"status", "finalize"}:
        namespace, parts = parts[1], parts[2:]
    resource = types.resource(group, version, parts[0])
    if resource is None:
        raise absent()
    name, subresource, *rest = [*parts[1:], "", ""]
    if resource.namespaced and not namespace and name:
        raise absent()
    if name in {".", ".."}:
        raise bad_request(f"Name parameter invalid: \"{name}\": may not be '{name}'")
    if namespace and not resource.namespaced:
        raise absent()
    if subresource and subresource not in resource.subresources:
        if resource.is_custom:
            raise not_found(Named(resource.plural, resource.group, resource.kind), name)
        raise absent()
    return Route(
        resource, namespace, name, subresource, rest="/".join(item for item in rest if item)
    )


def _with_verb(route: Route, method: str) -> Route:
    resource = route.resource
    if not route.name:
        verb = _COLLECTION.get(method, "")
        allowed = resource.verbs
        if verb == "create" and resource.namespaced and not route.namespace:
            raise not_allowed()
        if verb == "deletecollection" and resource.namespaced and not route.namespace:
            raise not_allowed()
    else:
        verb = _OBJECT.get(method, "")
        if route.subresource:
            allowed = resource.subresources[route.subresource].verbs
        else:
            allowed = resource.verbs
            if verb == "create":
                raise not_allowed()
    if verb not in allowed:
        raise not_allowed()
    return Route(resource, route.namespace, route.name, route.subresource, verb, route.rest)
