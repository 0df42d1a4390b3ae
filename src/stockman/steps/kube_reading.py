"""Parts of objects, read without trusting that they are there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from stockman.model.record import record
from stockman.ports.kubernetes.objects import Object

MANAGER = "stockman"
"""As whom we own fields of objects."""
MANAGED_BY = "app.kubernetes.io/managed-by"
FLUX_OWNER = "kustomize.toolkit.fluxcd.io/name"
"""Label of objects that Flux applied."""
HELM_OWNER = "meta.helm.sh/release-name"
"""Annotation of objects that a release of Helm made."""


def part(content: Object, *path: str) -> Mapping[str, object]:
    """A mapping inside of an object; empty where there is none."""
    found: object = content
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def entries(content: Object, *path: str) -> tuple[Mapping[str, object], ...]:
    """A list of mappings inside of an object; empty where there is none."""
    found = part(content, *path[:-1]).get(path[-1])
    if not isinstance(found, list | tuple):
        return ()
    return tuple(one for one in found if isinstance(one, Mapping))


def text(content: Object, *path: str) -> str:
    """A text inside of an object; empty where there is none."""
    found = part(content, *path[:-1]).get(path[-1])
    return found if isinstance(found, str) else ""


def number(content: Object, *path: str) -> int:
    """A number inside of an object; 0 where there is none."""
    found = part(content, *path[:-1]).get(path[-1])
    return found if isinstance(found, int) else 0


def moment(written: str) -> datetime | None:
    """A point in time as Kubernetes writes it. None: it is none."""
    try:
        found = datetime.fromisoformat(written.removesuffix("Z") + "+00:00" * written.endswith("Z"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def name_of(content: Object) -> str:
    return text(content, "metadata", "name")


def uid_of(content: Object) -> str:
    return text(content, "metadata", "uid")


def is_ours(content: Object) -> bool:
    """Whether we made an object."""
    return text(content, "metadata", "labels", MANAGED_BY) == MANAGER


def is_of_flux(content: Object) -> bool:
    """Whether Flux keeps an object as the repository has it."""
    return bool(text(content, "metadata", "labels", FLUX_OWNER))


def managers_of(content: Object) -> tuple[str, ...]:
    """Who wrote an object, each once, as far as the server tells."""
    found = (text(one, "manager") for one in entries(content, "metadata", "managedFields"))
    return tuple(dict.fromkeys(one for one in found if one))


@record
class Told:
    """A condition as an object tells it of itself."""

    status: str
    """`True`, `False`, `Unknown`. Empty: it says nothing."""
    reason: str = ""
    message: str = ""

    @property
    def holds(self) -> bool:
        return self.status == "True"


def condition(content: Object, kind: str) -> Told:
    """One condition of an object."""
    for one in entries(content, "status", "conditions"):
        if one.get("type") == kind:
            return Told(
                status=text(one, "status"), reason=text(one, "reason"), message=text(one, "message")
            )
    return Told(status="")
