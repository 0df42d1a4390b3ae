"""Requests for certificates: who may say what in their status."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft, forbidden_field
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, copied, entries_of, part_of, written_time

_DECISIONS = ("Approved", "Denied")
_LASTING = (*_DECISIONS, "Failed")
_CONDITIONS = "status.conditions"


def begin_request(draft: Draft) -> None:
    """Note who asks for a certificate."""
    spec = draft.content.setdefault("spec", {})
    spec["username"] = draft.user
    if draft.uid:
        spec["uid"] = draft.uid
    if draft.groups:
        spec["groups"] = list(dict.fromkeys([*draft.groups, "system:authenticated"]))


def change_request(draft: Draft) -> None:
    """What is asked for stays as it is; decisions are written apart from certificates."""
    old = draft.old or {}
    draft.content["spec"] = copied(part_of(old, "spec"))
    if not draft.subresource:
        return
    before, wanted = part_of(old, "status"), part_of(draft.content, "status")
    entries = [dict(entry) for entry in entries_of(wanted, "conditions")]
    made = {**(before if draft.subresource == "approval" else wanted), "conditions": entries}
    if not entries:
        del made["conditions"]
    _give_times(entries, entries_of(before, "conditions"), written_time(draft.around.now))
    draft.content["status"] = made


def _give_times(given: list[Object], known: list[Object], now: str) -> None:
    old = {(one.get("type"), one.get("status")): one for one in known}
    for one in given:
        same = old.get((one.get("type"), one.get("status")), {})
        one["lastUpdateTime"] = one.get("lastUpdateTime") or now
        since = one.get("lastTransitionTime") or same.get("lastTransitionTime")
        one["lastTransitionTime"] = since or now


def request_status_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the decisions about a request."""
    before, after = _kinds(draft.old or {}), _kinds(draft.content)
    for kind in _LASTING:
        if kind in before and kind not in after:
            why = f'updates may not remove a condition of type "{kind}"'
            yield forbidden_field(_CONDITIONS, why)
    if draft.subresource != "approval":
        for kind in _DECISIONS:
            if kind in after and kind not in before:
                why = f'updates may not add a condition of type "{kind}"'
                yield forbidden_field(_CONDITIONS, why)


def _kinds(content: Object) -> set[object]:
    return {entry.get("type") for entry in entries_of(content, "status", "conditions")}
