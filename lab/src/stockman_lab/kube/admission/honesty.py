"""Warnings about what is stored and has no effect in the lab."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.objects import Tree, part_of

OURS = "the lab "
"""What all of them begin with: no real server says so."""
_HOOKS = "admissionregistration.k8s.io"
_DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")
_RULES = "x-kubernetes-validations"
_FLOWS = "flowcontrol.apiserver.k8s.io"


def warn_of_stored(draft: Draft) -> None:
    """Say what of an object has no effect."""
    if draft.subresource != "status":
        draft.warnings.extend(OURS + one for one in _stored(draft))


def _stored(draft: Draft) -> Iterator[str]:
    group, _ = draft.place
    if group == _HOOKS:
        yield f"stores {draft.resource.kind} objects and does not evaluate them"
    if group == _FLOWS:
        yield f"stores {draft.resource.kind} objects and lets every request in at once"
    if draft.place == _DEFINITIONS:
        spec = part_of(draft.content, "spec")
        if part_of(spec, "conversion").get("strategy") == "Webhook":
            yield "stores conversion webhooks and does not call them: all versions look the same"
        if _has_rules(spec):
            yield f"stores {_RULES} and does not evaluate them"


def _has_rules(found: Tree) -> bool:
    if isinstance(found, dict):
        return _RULES in found or any(map(_has_rules, found.values()))
    return isinstance(found, list) and any(map(_has_rules, found))
