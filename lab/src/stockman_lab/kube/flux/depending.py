"""What has to be there before a Kustomization is applied: its source, and others."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.flux.controller import KUSTOMIZE_GROUP, SOURCE_GROUP
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

KUSTOMIZATIONS = "kustomizations"
SOURCES = {
    "GitRepository": "gitrepositories",
    "OCIRepository": "ocirepositories",
}


def source_key(found: Object) -> tuple[str, str]:
    """Plural and `namespace/name` of the source; an empty plural: of no known kind."""
    reference = part_of(found, "spec", "sourceRef")
    namespace = reference.get("namespace") or metadata_of(found).get("namespace") or ""
    return SOURCES.get(str(reference.get("kind")), ""), f"{namespace}/{reference.get('name')}"


def source_of(found: Object, objects: Objects) -> Object | None:
    """The source of a Kustomization; None: there is none."""
    plural, key = source_key(found)
    return objects.get(plural, key, SOURCE_GROUP) if plural else None


def revision_of(source: Object | None) -> str:
    """The revision of the artifact of a source; empty: it has none."""
    return str(part_of(source or {}, "status", "artifact").get("revision") or "")


def needed(found: Object) -> Iterator[str]:
    """`namespace/name` of the Kustomizations that one depends on."""
    own = str(metadata_of(found).get("namespace") or "")
    for entry in entries_of(found, "spec", "dependsOn"):
        yield f"{entry.get('namespace') or own}/{entry.get('name')}"


def unmet(found: Object, revision: str, objects: Objects) -> str:
    """Why it cannot go on; empty: it can."""
    for key in needed(found):
        other = objects.get(KUSTOMIZATIONS, key, KUSTOMIZE_GROUP)
        if other is None:
            name = key.partition("/")[2]
            why = f'{KUSTOMIZATIONS}.{KUSTOMIZE_GROUP} "{name}" not found'
            return f"dependency '{key}' not found: {why}"
        status = part_of(other, "status")
        ready = any(
            entry.get("type") == "Ready" and entry.get("status") == "True"
            for entry in entries_of(other, "status", "conditions")
        )
        if status.get("observedGeneration") != metadata_of(other).get("generation") or not ready:
            return f"dependency '{key}' is not ready"
        is_same = source_key(other) == source_key(found)
        if is_same and status.get("lastAppliedRevision") != revision:
            return f"dependency '{key}' revision is not up to date"
    return ""
