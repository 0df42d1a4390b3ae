"""Where objects stand in the API."""

from __future__ import annotations

from stockman.ports.kubernetes.kinds import Kind, Ref


def group_path(api_version: str) -> tuple[str, ...]:
    """Of a group in a version."""
    group, _, version = api_version.rpartition("/")
    return ("apis", group, version) if group else ("api", version)


def kind_path(kind: Kind, namespace: str = "") -> tuple[str, ...]:
    """Of all objects of a kind, in one namespace or in all."""
    place = ("namespaces", namespace) if kind.is_namespaced and namespace else ()
    return (*group_path(kind.api_version), *place, kind.plural)


def object_path(ref: Ref, subresource: str = "") -> tuple[str, ...]:
    """Of one object, or of what is below it."""
    place = ("namespaces", ref.namespace) if ref.kind.is_namespaced else ()
    below = (subresource,) if subresource else ()
    return (*group_path(ref.kind.api_version), *place, ref.kind.plural, ref.name, *below)
