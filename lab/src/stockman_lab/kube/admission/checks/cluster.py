"""Nodes, roles, classes, leases, ingresses and autoscalers."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft, forbidden_field, required, unsupported, wrong
from stockman_lab.kube.admission.names import qualified_errors
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_HIGHEST = 1_000_000_000
_SYSTEM = "system-"
_SUBJECTS = ("ServiceAccount", "User", "Group")
_ROLES = ("Role", "ClusterRole")


def node_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a node."""
    for place, taint in enumerate(entries_of(draft.content, "spec", "taints")):
        field = f"metadata.taints[{place}]"
        key, effect = taint.get("key", ""), taint.get("effect", "")
        for why in qualified_errors(key):
            yield wrong(f"{field}.key", key, why)
        if not effect:
            yield required(f"{field}.effect")
        elif effect not in _EFFECTS:
            yield unsupported(f"{field}.effect", effect, _EFFECTS)


def role_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a role."""
    for place, rule in enumerate(entries_of(draft.content, "rules")):
        field = f"rules[{place}]"
        if not rule.get("verbs"):
            yield required(f"{field}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            continue
        if not rule.get("apiGroups"):
            why = "resource rules must supply at least one api group"
            yield required(f"{field}.apiGroups", why)
        if not rule.get("resources"):
            why = "resource rules must supply at least one resource"
            yield required(f"{field}.resources", why)


def role_binding_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a binding of a role."""
    role = part_of(draft.content, "roleRef")
    known = _ROLES if draft.resource.namespaced else ("ClusterRole",)
    if role.get("kind") not in known:
        yield unsupported("roleRef.kind", role.get("kind", ""), known)
    if not role.get("name"):
        yield required("roleRef.name")
    for place, subject in enumerate(entries_of(draft.content, "subjects")):
        yield from _subject_causes(subject, f"subjects[{place}]")


def _subject_causes(subject: Object, field: str) -> Iterator[Cause]:
    if not subject.get("name"):
        yield required(f"{field}.name")
    if subject.get("kind") not in _SUBJECTS:
        yield unsupported(f"{field}.kind", subject.get("kind", ""), _SUBJECTS)
    elif subject["kind"] == "ServiceAccount" and not subject.get("namespace"):
        yield required(f"{field}.namespace")


def priority_class_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a class of priorities."""
    name = metadata_of(draft.content).get("name", "")
    if draft.content.get("value", 0) > _HIGHEST and not name.startswith(_SYSTEM):
        why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        yield forbidden_field("value", why)


def storage_class_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a class of storage."""
    if not draft.content.get("provisioner"):
        yield required("provisioner")


def storage_class_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of a class of storage."""
    old = draft.old or {}
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if draft.content.get(name) != old.get(name):
            if name == "parameters":
                yield forbidden_field(name, "updates to parameters are forbidden.")
            else:
                yield wrong(name, draft.content.get(name), "field is immutable")


def lease_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a lease."""
    spec = part_of(draft.content, "spec")
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield wrong("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    changes = spec.get("leaseTransitions")
    if changes is not None and changes < 0:
        yield wrong("spec.leaseTransitions", changes, "must be greater than or equal to 0")


def ingress_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with an ingress."""
    spec = part_of(draft.content, "spec")
    if not spec.get("rules") and not spec.get("defaultBackend"):
        yield wrong("spec", None, "either `defaultBackend` or `rules` must be specified")
    for place, rule in enumerate(entries_of(spec, "rules")):
        for number, path in enumerate(entries_of(rule, "http", "paths")):
            field = f"spec.rules[{place}].http.paths[{number}]"
            if not path.get("pathType"):
                yield required(f"{field}.pathType", "pathType must be specified")


def autoscaler_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with an autoscaler."""
    spec = part_of(draft.content, "spec")
    most, least = spec.get("maxReplicas", 0), spec.get("minReplicas", 1)
    if most < 1:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    if most < least:
        yield wrong("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    if not part_of(spec, "scaleTargetRef").get("apiVersion"):
        field = "spec.scaleTargetRef.apiVersion"
        yield wrong(field, "", "apiVersion must specify API group")
