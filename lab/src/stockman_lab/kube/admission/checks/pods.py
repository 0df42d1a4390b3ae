"""Pods and their templates."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.checks.containers import (
    container_causes,
    resource_causes,
    volume_causes,
)
from stockman_lab.kube.admission.draft import Draft, forbidden_field, unsupported, wrong
from stockman_lab.kube.admission.names import label_causes, subdomain_errors
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, copied, entries_of, part_of

_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_CHANGEABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only"
    " additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set"
    " to 1 if it was previously negative)"
)


def pod_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a pod."""
    yield from pod_spec_causes(part_of(draft.content, "spec"), "spec")


def pod_spec_causes(spec: Object, field: str) -> Iterator[Cause]:
    """What is wrong with the inside of a pod."""
    yield from volume_causes(spec, field)
    yield from container_causes(spec, field)
    yield from resource_causes(spec, f"{field}.resources")
    if spec.get("restartPolicy") not in _RESTARTS:
        yield unsupported(f"{field}.restartPolicy", spec.get("restartPolicy", ""), _RESTARTS)
    if spec.get("dnsPolicy") not in _DNS:
        yield unsupported(f"{field}.dnsPolicy", spec.get("dnsPolicy", ""), _DNS)
    yield from label_causes(spec.get("nodeSelector"), f"{field}.nodeSelector")
    for name in ("serviceAccountName", "nodeName", "priorityClassName"):
        found = spec.get(name)
        for why in subdomain_errors(found) if found else ():
            yield wrong(f"{field}.{name}", found, why)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 1 << 31:
        why = "must be between 1 and 2147483647, inclusive"
        yield wrong(f"{field}.activeDeadlineSeconds", deadline, why)
    for place, entry in enumerate(entries_of(spec, "tolerations")):
        yield from _toleration_causes(entry, f"{field}.tolerations[{place}]")


def _toleration_causes(toleration: Object, field: str) -> Iterator[Cause]:
    operator = toleration.get("operator", "")
    if not toleration.get("key") and operator != "Exists":
        why = (
            "operator must be Exists when `key` is empty, which means"
            ' "match all values and all keys"'
        )
        yield wrong(f"{field}.operator", operator, why)
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield wrong(f"{field}.effect", toleration.get("effect", ""), why)
    if operator == "Exists" and toleration.get("value"):
        why = "value must be empty when `operator` is 'Exists'"
        yield wrong(f"{field}.operator", toleration["value"], why)
    if operator and operator not in _OPERATORS:
        yield unsupported(f"{field}.operator", operator, _OPERATORS)
    if toleration.get("effect") and toleration["effect"] not in _EFFECTS:
        yield unsupported(f"{field}.effect", toleration["effect"], _EFFECTS)


def template_causes(template: Object, field: str, selector: object) -> Iterator[Cause]:
    """What is wrong with a template, which the selector of its owner has to mean."""
    labels = part_of(template, "metadata").get("labels")
    if not _selected(selector, labels):
        yield wrong(
            f"{field}.metadata.labels", labels, "`selector` does not match template `labels`"
        )
    yield from label_causes(labels, f"{field}.metadata.labels")
    yield from pod_spec_causes(part_of(template, "spec"), f"{field}.spec")


def _selected(selector: object, labels: object) -> bool:
    if not isinstance(selector, dict):
        return False
    found = labels if isinstance(labels, dict) else {}
    match_labels = selector.get("matchLabels") or {}
    if not match_labels and not selector.get("matchExpressions"):
        return False
    return all(found.get(name) == match_label for name, match_label in match_labels.items())


def pod_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of a pod."""
    if draft.subresource:
        return
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    for kind, word in (("containers", "containers"), ("initContainers", "init containers")):
        if len(entries_of(new, kind)) != len(entries_of(old, kind)):
            yield forbidden_field(f"spec.{kind}", f"pod updates may not add or remove {word}")
            return
    yield from pod_spec_causes(new, "spec")
    if _fixed(new, old) != _fixed(old, old):
        yield forbidden_field("spec", f"{_CHANGEABLE}\n")


def _fixed(spec: Object, old: Object) -> Object:
    made = copied(spec)
    for kind in ("containers", "initContainers"):
        for container in entries_of(made, kind):
            container.pop("image", None)
    made.pop("activeDeadlineSeconds", None)
    kept = entries_of(old, "tolerations")
    tolerations = entries_of(made, "tolerations")
    if all(one in tolerations for one in kept):
        made.pop("tolerations", None)
    return made
