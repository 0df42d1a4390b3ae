"""Options of lists and watches: which of them go together."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import forbidden_field, unsupported
from stockman_lab.kube.api.messages import Request
from stockman_lab.kube.failures import Cause, Named, invalid

_MATCH = "resourceVersionMatch"


def check_list_options(request: Request) -> None:
    """Options of a list; raises `Failure`."""
    match, version = request.asked(_MATCH), request.asked("resourceVersion")
    causes: list[Cause] = []
    if match:
        if not version:
            why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            causes.append(forbidden_field(_MATCH, why))
        causes += _continued(request)
        if match not in {"Exact", "NotOlderThan"}:
            causes.append(unsupported(_MATCH, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and version == "0":
            why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            causes.append(forbidden_field(_MATCH, why))
    if "sendInitialEvents" in request.query:
        why = "sendInitialEvents is forbidden for list"
        causes.append(forbidden_field("sendInitialEvents", why))
    _refuse(causes)


def check_watch_options(request: Request) -> None:
    """Options of a watch; raises `Failure`."""
    match = request.asked(_MATCH)
    causes: list[Cause] = []
    initial = "sendInitialEvents" in request.query
    if match and not initial:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(forbidden_field(_MATCH, why))
    if initial and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden_field(_MATCH, why))
    if match:
        if match != "NotOlderThan":
            causes.append(unsupported(_MATCH, match, ("NotOlderThan",)))
        causes += _continued(request)
    _refuse(causes)


def _continued(request: Request) -> list[Cause]:
    if not request.asked("continue"):
        return []
    return [forbidden_field(_MATCH, "resourceVersionMatch is forbidden when continue is provided")]


def _refuse(causes: list[Cause]) -> None:
    if causes:
        raise invalid(Named("", "meta.k8s.io", "ListOptions"), "", causes)
