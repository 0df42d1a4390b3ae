"""Refusals of the API server: each is a `Status` with reason, code and details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stockman_lab.kube.objects import Object


@dataclass(frozen=True, slots=True)
class Cause:
    """One of several things that are wrong."""

    reason: str
    message: str
    field: str = ""

    @property
    def content(self) -> Object:
        content: Object = {}
        if self.reason:
            content["reason"] = self.reason
        if self.message:
            content["message"] = self.message
        if self.field:
            content["field"] = self.field
        return content


@dataclass(frozen=True, slots=True)
class About:
    """What a refusal is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    """Of objects that were looked for it is the plural, of objects that are wrong the kind."""
    uid: str = ""
    causes: Sequence[Cause] = ()
    retry_after: int = 0
    """Seconds; 0: nothing is said about it."""

    @property
    def content(self) -> Object:
        founds: Object = {
            name: result
            for name in ("name", "group", "kind", "uid")
            if (result := getattr(self, name))
        }
        if self.causes:
            founds["causes"] = [cause.content for cause in self.causes]
        if self.retry_after:
            founds["retryAfterSeconds"] = self.retry_after
        return founds


class Failure(Exception):
    """A refusal; its text is the message."""

    def __init__(
        self, code: int, reason: str, message: str, about: About | None = None, **metadata: str
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.about = about
        self.metadata = metadata
        """Of the list that is refused, such as where it can be continued."""

    @property
    def status(self) -> Object:
        """The body of the answer."""
        result: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.metadata),
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            result["reason"] = self.reason
        if self.about is not None:
            result["details"] = self.about.content
        return result | {"code": self.code}


@dataclass(frozen=True, slots=True)
class Named:
    """How refusals name the objects of a kind."""

    plural: str
    group: str = ""
    kind: str = ""

    @property
    def resource(self) -> str:
        """With its group, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


def not_found(named: Named, name: str) -> Failure:
    """There is no such object."""
    text = f'{named.resource} "{name}" not found'
    return Failure(404, "NotFound", text, About(name, named.group, named.plural))


def exists(named: Named, name: str) -> Failure:
    """There is such an object already."""
    text = f'{named.resource} "{name}" already exists'
    return Failure(409, "AlreadyExists", text, About(name, named.group, named.plural))


_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(named: Named, name: str, why: str = _MODIFIED) -> Failure:
    """Somebody else was faster."""
    text = f'Operation cannot be fulfilled on {named.resource} "{name}": {why}'
    return Failure(409, "Conflict", text, About(name, named.group, named.plural))


def forbidden(named: Named, name: str, why: str, causes: Sequence[Cause] = ()) -> Failure:
    """It is not allowed."""
    text = f'{named.resource} "{name}" is forbidden: {why}'
    if not name:
        text = f"{named.resource} is forbidden: {why}"
    return Failure(403, "Forbidden", text, About(name, named.group, named.plural, causes=causes))


def invalid(named: Named, name: str, causes: Sequence[Cause]) -> Failure:
    """Fields of an object are wrong."""
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    text = f'{named.qualified_kind} "{name}" is invalid: {told}'
    return Failure(422, "Invalid", text, About(name, named.group, named.kind, causes=causes))


def bad_request(text: str) -> Failure:
    """What was asked for makes no sense."""
    return Failure(400, "BadRequest", text)


def internal(text: str) -> Failure:
    """The server could not do it."""
    about = About(causes=(Cause("", text),))
    return Failure(500, "InternalError", f"Internal error occurred: {text}", about)


def expired(text: str, **metadata: str) -> Failure:
    """What was asked for is no longer kept."""
    return Failure(410, "Expired", text, None, **metadata)
