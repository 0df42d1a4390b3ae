"""Who wrote a field of an object, as its `managedFields` tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from stockman.app.drift.finding import Author
from stockman.ports.kubernetes.objects import Object
from stockman.steps.kube_reading import MANAGER, entries, part, text

CONTROLLERS = frozenset(
    {
        *(MANAGER, "Helm", "flux-operator", "helm-controller", "kustomize-controller"),
        *("gotk-helm-controller", "gotk-kustomize-controller", "gotk-source-controller"),
    }
)
"""Those who write what the files say."""
Path = tuple[str, ...]
_UNTOLD = "no manager of its fields but those of stockman and Flux"


def field_author(content: Object, paths: Iterable[Path]) -> Author:
    """The newest manager of one of these fields who is neither stockman nor Flux."""
    wanted = tuple(paths)
    found = [one for one in _writers(content) if any(_owns(one, path) for path in wanted)]
    if not found:
        return Author(how=_UNTOLD)
    newest = max(found, key=lambda one: text(one, "time"))
    name = text(newest, "manager")
    return Author(
        who=name,
        when=_moment(text(newest, "time")),
        how=f"manager {name} of the fields, by {text(newest, 'operation') or 'Update'}",
    )


def is_of_controllers(content: Object, path: Path) -> bool:
    """Whether Flux or Helm alone own a field: what they made of it is their affair."""
    owners = {
        text(one, "manager")
        for one in entries(content, "metadata", "managedFields")
        if _owns(one, path)
    }
    return bool(owners) and owners <= CONTROLLERS - {MANAGER}


def _writers(content: Object) -> Iterator[Mapping[str, object]]:
    for one in entries(content, "metadata", "managedFields"):
        is_status = text(one, "subresource") == "status"
        if not is_status and text(one, "manager") not in CONTROLLERS:
            yield one


def _owns(entry: Mapping[str, object], path: Path) -> bool:
    """Whether a path, or the whole of which it is a part, is among the fields of a manager."""
    fields = part(entry, "fieldsV1")
    for name in path:
        if f"f:{name}" not in fields:
            return False
        fields = part(fields, f"f:{name}")
        if not fields:
            return True
    return True


def _moment(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
