"""Custom resource definitions, and the objects that they define."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman_lab.kube.admission.checks.schemas import schema_causes
from stockman_lab.kube.admission.draft import Draft, required, unsupported, wrong
from stockman_lab.kube.admission.names import SUBDOMAIN_TEXT, is_subdomain
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123',"
    f" regex used for validation is '{_LABEL}')"
)
_MIXED_TEXT = f"may have mixed case, but should otherwise match: {_LABEL_TEXT}"
_APPROVED = "api-approved.kubernetes.io"
_PROTECTED = (".k8s.io", ".kubernetes.io")
_APPROVAL = (
    f'protected groups must have approval annotation "{_APPROVED}", see'
    " https://github.com/kubernetes/enhancements/pull/1111"
)
_OPENED = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
    " spec.versions[*].schema instead"
)
_COLUMNS = ("boolean", "date", "integer", "number", "string")
_SIMPLE_PATH = re.compile(r"\.[A-Za-z_][A-Za-z0-9_.\[\]\"'?@=()/\\ $*:-]*")
_PATH_TEXT = "must be a simple json path starting with ."


def scale_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the numbers that an object is scaled by."""
    scale = part_of(draft.resource.declared, "subresources", "scale")
    for name in ("specReplicasPath", "statusReplicasPath"):
        path = str(scale.get(name, ""))
        *steps, last = path.removeprefix(".").split(".")
        found = part_of(draft.content, *steps).get(last)
        if isinstance(found, int) and found < 0:
            yield wrong(path, found, "should be a non-negative integer")


def definition_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a definition."""
    spec = part_of(draft.content, "spec")
    names = part_of(spec, "names")
    metadata = metadata_of(draft.content)
    group = spec.get("group", "")
    name = metadata.get("name", "")
    if name != f"{names.get('plural', '')}.{group}":
        yield wrong("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield required("spec.group")
    elif not is_subdomain(group):
        yield wrong("spec.group", group, SUBDOMAIN_TEXT)
    elif "." not in group:
        yield wrong("spec.group", group, "should be a domain with at least one dot")
    if not spec.get("scope"):
        yield required("spec.scope")
    elif spec["scope"] not in ("Cluster", "Namespaced"):
        yield unsupported("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    if spec.get("preserveUnknownFields"):
        yield wrong("spec.preserveUnknownFields", True, _OPENED)
    yield from _version_causes(spec)
    yield from _name_causes(names)
    yield from _conversion_causes(part_of(spec, "conversion"))
    stored = part_of(draft.content, "status").get("storedVersions")
    if not stored:
        yield wrong(
            "status.storedVersions", stored or None, "must have at least one stored version"
        )
    if f".{group}".endswith(_PROTECTED) and not (metadata.get("annotations") or {}).get(_APPROVED):
        yield required(f"metadata.annotations[{_APPROVED}]", _APPROVAL)


def _version_causes(spec: Object) -> Iterator[Cause]:
    versions = entries_of(spec, "versions")
    for place, version in enumerate(versions):
        field = f"spec.versions[{place}]"
        if not re.fullmatch(_LABEL, version.get("name", "")):
            yield wrong(f"{field}.name", version.get("name", ""), _LABEL_TEXT)
        if version.get("deprecationWarning") and not version.get("deprecated"):
            why = "can only be set for deprecated versions"
            yield wrong(f"{field}.deprecationWarning", version["deprecationWarning"], why)
        if part_of(version, "schema").get("openAPIV3Schema") is None:
            yield required(f"{field}.schema.openAPIV3Schema")
    if versions and not re.fullmatch(_LABEL, versions[0].get("name", "")):
        yield wrong("spec.version", versions[0].get("name", ""), _LABEL_TEXT)
    if sum(bool(one.get("storage")) for one in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield wrong("spec.versions", spec.get("versions"), why)
    if len({one.get("name") for one in versions}) < len(versions):
        yield wrong("spec.versions", versions, "must contain unique version names")
    for one, field in _told(versions, "schema", "validation"):
        if isinstance(one.get("openAPIV3Schema"), dict):
            yield from schema_causes(one["openAPIV3Schema"], f"{field}.openAPIV3Schema")
    for one, field in _told(versions, "subresources", "subresources"):
        yield from _scale_causes(one.get("scale"), f"{field}.scale")
    for version, place in zip(versions, range(len(versions)), strict=True):
        shared = all(
            one.get("additionalPrinterColumns") == version.get("additionalPrinterColumns")
            for one in versions
        )
        if shared and place:
            continue
        field = "spec" if shared else f"spec.versions[{place}]"
        for number, column in enumerate(entries_of(version, "additionalPrinterColumns")):
            yield from _column_causes(column, f"{field}.additionalPrinterColumns[{number}]")


def _told(versions: list[Object], name: str, hoisted: str) -> Iterator[tuple[Object, str]]:
    """What versions say: once where all say the same."""
    if not versions:
        return
    if all(one.get(name) == versions[0].get(name) for one in versions):
        yield part_of(versions[0], name), f"spec.{hoisted}"
        return
    for place, version in enumerate(versions):
        yield part_of(version, name), f"spec.versions[{place}].{name}"


def _scale_causes(scale: object, field: str) -> Iterator[Cause]:
    if not isinstance(scale, dict):
        return
    for name in ("specReplicasPath", "statusReplicasPath"):
        found = scale.get(name) or ""
        if not found:
            yield required(f"{field}.{name}")
        elif not _SIMPLE_PATH.fullmatch(found):
            yield wrong(f"{field}.{name}", found, _PATH_TEXT)


def _column_causes(column: Object, field: str) -> Iterator[Cause]:
    if not column.get("name"):
        yield required(f"{field}.name")
    if column.get("type") not in _COLUMNS:
        why = f"must be one of {','.join(_COLUMNS)}"
        yield wrong(f"{field}.type", column.get("type", ""), why)
    path = column.get("jsonPath") or ""
    if not path:
        yield required(f"{field}.JSONPath")
    elif not path.startswith("."):
        yield wrong(f"{field}.JSONPath", path, _PATH_TEXT)


def _name_causes(names: Object) -> Iterator[Cause]:
    for field in ("plural", "singular", "kind", "listKind"):
        name = names.get(field)
        if not name:
            yield required(f"spec.names.{field}")
    for field in ("plural", "singular"):
        name = names.get(field)
        if name and not re.fullmatch(_LABEL, name):
            yield wrong(f"spec.names.{field}", name, _LABEL_TEXT)
    for place, name in enumerate(names.get("shortNames") or []):
        if not re.fullmatch(_LABEL, name):
            yield wrong(f"spec.names.shortNames[{place}]", name, _LABEL_TEXT)
    for field in ("kind", "listKind"):
        name = names.get(field)
        if name and not re.fullmatch(_LABEL, name.lower()):
            yield wrong(f"spec.names.{field}", name, _MIXED_TEXT)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield wrong("spec.names.listKind", names["kind"], "kind and listKind may not be the same")
    for place, name in enumerate(names.get("categories") or []):
        if not re.fullmatch(_LABEL, name):
            yield wrong(f"spec.names.categories[{place}]", name, _LABEL_TEXT)


def _conversion_causes(conversion: Object) -> Iterator[Cause]:
    strategy = conversion.get("strategy")
    if strategy and strategy not in ("None", "Webhook"):
        yield unsupported("spec.conversion.strategy", strategy, ("None", "Webhook"))
    if strategy != "Webhook":
        return
    webhook = part_of(conversion, "webhook")
    if not webhook.get("clientConfig"):
        why = "required when strategy is set to Webhook"
        yield required("spec.conversion.webhookClientConfig", why)
    if not webhook.get("conversionReviewVersions"):
        yield required("spec.conversion.conversionReviewVersions")
