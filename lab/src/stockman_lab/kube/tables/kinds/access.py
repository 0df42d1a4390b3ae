"""Tables of who may do what, and of certificates."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages, human
from stockman_lab.kube.tables.printing import (
    NONE,
    Cells,
    Object,
    at,
    cells_of,
    created,
    listed,
    name_of,
    text,
)


@cells_of(
    "rbac.authorization.k8s.io/v1/rolebindings",
    "rbac.authorization.k8s.io/v1/clusterrolebindings",
)
def binding_cells(content: Object, ages: Ages) -> Cells:
    """Name, role, age, users, groups, service accounts."""
    role = at(content, "roleRef")
    subjects = listed(content, "subjects")
    users = [subject["name"] for subject in subjects if subject["kind"] == "User"]
    groups = [subject["name"] for subject in subjects if subject["kind"] == "Group"]
    accounts = [
        f"{subject['namespace']}/{subject['name']}" if subject.get("namespace") else subject["name"]
        for subject in subjects
        if subject["kind"] == "ServiceAccount"
    ]
    return [
        name_of(content),
        f"{text(role, 'kind')}/{text(role, 'name')}",
        ages.since(created(content)),
        *(", ".join(one) for one in (users, groups, accounts)),
    ]


@cells_of("v1/serviceaccounts")
def service_account_cells(content: Object, ages: Ages) -> Cells:
    """Name, age."""
    return [name_of(content), ages.since(created(content))]


@cells_of("certificates.k8s.io/v1/certificatesigningrequests")
def signing_request_cells(content: Object, ages: Ages) -> Cells:
    """Name, age, signer, who asks, for how long, condition."""
    seconds = at(content, "spec", "expirationSeconds")
    return [
        name_of(content),
        ages.since(created(content)),
        text(content, "spec", "signerName", default=NONE),
        text(content, "spec", "username"),
        NONE if seconds is None else human(seconds),
        _condition(content),
    ]


def _condition(content: Object) -> str:
    kinds = {one.get("type") for one in listed(content, "status", "conditions")}
    words = ["Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"]
    if "Failed" in kinds:
        words.append("Failed")
    if text(content, "status", "certificate"):
        words.append("Issued")
    return ",".join(words)
