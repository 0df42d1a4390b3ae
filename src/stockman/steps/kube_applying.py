"""Objects of our own, put into the cluster without taking anything from anybody."""

from __future__ import annotations

from stockman.model.errors import NotFound, Refused
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.errors import FieldConflict
from stockman.ports.kubernetes.kinds import Kind, Ref
from stockman.ports.kubernetes.objects import Application, Object
from stockman.steps import kube_problems as problems
from stockman.steps.kube_reading import MANAGED_BY, MANAGER, name_of, text


def ours(kind: Kind, name: str, namespace: str = "", **more: object) -> dict[str, object]:
    """An object that says whose it is."""
    metadata: dict[str, object] = {"name": name, "labels": {MANAGED_BY: MANAGER}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **more}


async def found(kubernetes: Kubernetes, ref: Ref) -> Object | None:
    """An object; None: there is none."""
    try:
        return await kubernetes.get(ref)
    except NotFound:
        return None


async def put(kubernetes: Kubernetes, kind: Kind, content: Object) -> Object:
    """Make our fields so; fields that others own stay theirs, and are a `Refused`."""
    try:
        return await kubernetes.apply(kind, Application(content=content, manager=MANAGER))
    except FieldConflict as conflict:
        ref = Ref(
            kind=kind, name=name_of(content), namespace=text(content, "metadata", "namespace")
        )
        fields = ", ".join(
            f"{one.field} (set by {one.manager})" for one in conflict.fields if one.field
        )
        why = f"it differs in {fields}" if fields else "it differs from what is wanted"
        raise Refused(problems.foreign(ref, conflict.managers, why)) from conflict
