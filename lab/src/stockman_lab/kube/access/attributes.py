"""What a request wants to do, read from its path alone, as those who judge it see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.failures import About, Failure

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_OF_NAMESPACES = frozenset({"status", "finalize"})
_PREFIXES = frozenset({"api", "apis"})


@dataclass(frozen=True, slots=True)
class Attributes:
    """Somebody, and what they want to do."""

    user: User = field(default_factory=User)
    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """Of a request that is not about objects; empty: it is."""
    version: str = ""

    @property
    def qualified(self) -> str:
        """The resource with its subresource."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(request: Request) -> Attributes:
    """What a request wants to do."""
    path = [item for item in request.path.split("/") if item]
    plain = Attributes(request.user, request.method.lower(), path=request.path or "/")
    if len(path) < 3 or path[0] not in _PREFIXES or (path[0] == "apis" and len(path) < 4):
        return plain
    group, path = ("", path[1:]) if path[0] == "api" else (path[1], path[2:])
    version, *path = path
    verb = _VERBS.get(request.method, "")
    if path[0] in ("watch", "proxy"):
        verb, path = path[0], path[1:]
        if not path:
            return plain
    namespace = ""
    if path[0] == "namespaces" and len(path) > 1:
        namespace = path[1]
        if len(path) > 2 and path[2] not in _OF_NAMESPACES:
            path = path[2:]
    resource, name, subresource, *_ = [*path, "", ""] if len(path) < 3 else path
    if not name:
        verb = _of_many(request, verb)
        name = _named_by_field(request) if verb in ("list", "watch", "deletecollection") else ""
    return Attributes(
        request.user, verb, group, resource, subresource, namespace, name, "", version
    )


def _of_many(request: Request, verb: str) -> str:
    if verb == "get":
        return "watch" if request.is_asked("watch") else "list"
    return "deletecollection" if verb == "delete" else verb


def _named_by_field(request: Request) -> str:
    """The one object that a list asks for."""
    for item in request.asked("fieldSelector").split(","):
        field_name, sign, value = item.partition("=")
        if field_name == "metadata.name" and sign:
            return value.removeprefix("=")
    return ""


def forbidden(attributes: Attributes, reason: str = "") -> Failure:
    """The refusal, in the words of the server."""
    user = attributes.user.name
    more = f": {reason}" if reason else ""
    if attributes.path:
        text = f'forbidden: User "{user}" cannot {attributes.verb} path "{attributes.path}"{more}'
        return Failure(403, "Forbidden", text, About())
    where = (
        f'in the namespace "{attributes.namespace}"'
        if attributes.namespace
        else "at the cluster scope"
    )
    resource = (
        f"{attributes.resource}.{attributes.group}" if attributes.group else attributes.resource
    )
    if attributes.name:
        resource = f'{resource} "{attributes.name}"'
    text = (
        f'{resource} is forbidden: User "{user}" cannot {attributes.verb} resource'
        f' "{attributes.qualified}" in API group "{attributes.group}" {where}{more}'
    )
    return Failure(
        403, "Forbidden", text, About(attributes.name, attributes.group, attributes.resource)
    )
