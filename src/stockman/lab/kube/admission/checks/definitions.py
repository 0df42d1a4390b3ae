"""Custom resource definitions, and the objects that they define."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.lab.kube.admission.draft import Draft, required, wrong
from stockman.lab.kube.failures import Cause
from stockman.lab.kube.objects import entries_of, metadata_of, part_of


def definition_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a definition."""
    spec = part_of(draft.content, "spec")
    names = part_of(spec, "names")
    name = metadata_of(draft.content).get("name", "")
    if name != f"{names.get('plural', '')}.{spec.get('group', '')}":
        yield wrong("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    for field in ("group", "scope"):
        if not spec.get(field):
            yield required(f"spec.{field}")
    versions = entries_of(spec, "versions")
    for place, version in enumerate(versions):
        if not part_of(version, "schema").get("openAPIV3Schema"):
            yield required(f"spec.versions[{place}].schema.openAPIV3Schema")
    if sum(bool(one.get("storage")) for one in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield wrong("spec.versions", spec.get("versions"), why)
    for field in ("plural", "singular", "kind", "listKind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
    stored = part_of(draft.content, "status").get("storedVersions")
    if not stored:
        yield wrong(
            "status.storedVersions", stored or None, "must have at least one stored version"
        )
