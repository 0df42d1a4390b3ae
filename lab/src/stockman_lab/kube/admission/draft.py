"""An object on its way in: what was there, what is wanted, and what admission reads beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Protocol

from stockman_lab.core.dice import Dice
from stockman_lab.kube.failures import Cause, Named
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.type import Type


class AdmissionContext(Protocol):
    """What admission looks at beside the object itself."""

    @property
    def dice(self) -> Dice:
        """Where random numbers come from."""

    @property
    def now(self) -> float:
        """Seconds since 1970."""

    @property
    def service_network(self) -> str:
        """From where services get their addresses."""

    @property
    def demands_accounts(self) -> bool:
        """Whether pods have to have a service account."""

    def found(self, plural: str, namespace: str, name: str) -> Object | None:
        """A built-in object; None: there is none."""

    def listed(self, plural: str, namespace: str = "") -> list[Object]:
        """All built-in objects of a kind, of one namespace or of all."""


@dataclass(slots=True)
class Draft:
    """What somebody wants an object to be."""

    resource: Resource
    content: Object
    context: AdmissionContext
    old: Object | None = None
    """None: it is new."""
    namespace: str = ""
    subresource: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    """Of the user; empty: nobody knows it."""
    warnings: list[str] = field(default_factory=list)
    shape: Type | None = None
    """The type of the object."""

    @property
    def named(self) -> Named:
        """How refusals name it."""
        resource = self.resource
        return Named(resource.plural, resource.group, resource.kind)

    @property
    def name(self) -> str:
        name = self.content.get("metadata", {}).get("name", "")
        return name if isinstance(name, str) else ""

    @property
    def place(self) -> tuple[str, str]:
        """Group and plural."""
        return self.resource.group, self.resource.plural


def required(field: str, why: str = "") -> Cause:
    """A field has to be given."""
    return Cause("FieldValueRequired", f"Required value: {why}" if why else "Required value", field)


def wrong(field: str, value: object, why: str) -> Cause:
    """A field is not what it has to be."""
    return Cause("FieldValueInvalid", f"Invalid value: {quoted(value)}: {why}", field)


def forbidden_field(field: str, why: str) -> Cause:
    """A field must not be given."""
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def duplicate(field: str, value: object) -> Cause:
    """A field says what another said."""
    return Cause("FieldValueDuplicate", f"Duplicate value: {quoted(value)}", field)


def unsupported(field: str, value: object, known: tuple[str, ...]) -> Cause:
    """A field has to have one of several values."""
    told = ", ".join(f'"{item}"' for item in known)
    text = f"Unsupported value: {quoted(value)}: supported values: {told}"
    return Cause("FieldValueNotSupported", text, field)


def quoted(value: object) -> str:
    """A value as messages show it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
