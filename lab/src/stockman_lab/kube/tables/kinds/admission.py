"""Tables of what is asked before objects are taken in."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    created,
    listed,
    name_of,
    text,
)

_GROUP = "admissionregistration.k8s.io/v1"


@cells_of(
    f"{_GROUP}/mutatingwebhookconfigurations",
    f"{_GROUP}/validatingwebhookconfigurations",
)
def webhook_cells(content: Object, ages: Ages) -> Cells:
    """Name, count of webhooks, age."""
    return [name_of(content), len(listed(content, "webhooks")), ages.since(created(content))]


@cells_of(f"{_GROUP}/validatingadmissionpolicies", f"{_GROUP}/mutatingadmissionpolicies")
def policy_cells(content: Object, ages: Ages) -> Cells:
    """Name, count of rules, kind of parameters, age."""
    count = len(listed(content, "spec", "validations") or listed(content, "spec", "mutations"))
    kind = at(content, "spec", "paramKind")
    parameters = UNSET if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}"
    return [name_of(content), count, parameters, ages.since(created(content))]


@cells_of(
    f"{_GROUP}/validatingadmissionpolicybindings",
    f"{_GROUP}/mutatingadmissionpolicybindings",
)
def policy_binding_cells(content: Object, ages: Ages) -> Cells:
    """Name, policy, parameters, age."""
    given = at(content, "spec", "paramRef")
    parameters = UNSET
    if name := text(given, "name"):
        parameters = f"{text(given, 'namespace', default='*')}/{name}"
    policy = text(content, "spec", "policyName")
    return [name_of(content), policy, parameters, ages.since(created(content))]
