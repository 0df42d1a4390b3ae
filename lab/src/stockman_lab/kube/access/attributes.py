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
    parts = [one for one in request.path.split("/") if one]
    plain = Attributes(request.user, request.method.lower(), path=request.path or "/")
    if len(parts) < 3 or parts[0] not in _PREFIXES or (parts[0] == "apis" and len(parts) < 4):
        return plain
    group, parts = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
    version, *parts = parts
    verb = _VERBS.get(request.method, "")
    if parts[0] in ("watch", "proxy"):
        verb, parts = parts[0], parts[1:]
        if not parts:
            return plain
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _OF_NAMESPACES:
            parts = parts[2:]
    resource, name, subresource, *_ = [*parts, "", ""] if len(parts) < 3 else parts
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
    for one in request.asked("fieldSelector").split(","):
        field_name, sign, value = one.partition("=")
        if field_name == "metadata.name" and sign:
            return value.removeprefix("=")
    return ""


def forbidden(asked: Attributes, reason: str = "") -> Failure:
    """The refusal, in the words of the server."""
    user = asked.user.name
    more = f": {reason}" if reason else ""
    if asked.path:
        text = f'forbidden: User "{user}" cannot {asked.verb} path "{asked.path}"{more}'
        return Failure(403, "Forbidden", text, About())
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    what = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    if asked.name:
        what = f'{what} "{asked.name}"'
    text = (
        f'{what} is forbidden: User "{user}" cannot {asked.verb} resource'
        f' "{asked.qualified}" in API group "{asked.group}" {where}{more}'
    )
    return Failure(403, "Forbidden", text, About(asked.name, asked.group, asked.resource))
