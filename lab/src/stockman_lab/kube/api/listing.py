"""Getting and listing objects."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.kube.admission.draft import forbidden_field
from stockman_lab.kube.api.call import Call, seen_as
from stockman_lab.kube.api.selectors import Selection, selection
from stockman_lab.kube.failures import (
    About,
    Cause,
    Failure,
    Named,
    bad_request,
    expired,
    invalid,
    not_found,
)
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Listed

_TOKEN_VERSION = "meta.k8s.io/v1"
_MATCH = "resourceVersionMatch"
_OLD_TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results."
)
_OLD_VERSION = "The resourceVersion for the provided list is too old."


@dataclass(frozen=True, slots=True)
class Page:
    """What a list answers."""

    entries: list[Entry]
    metadata: Object


def get(call: Call) -> Entry:
    """One object; raises `Failure`."""
    version = call.request.asked("resourceVersion")
    desired = read_version(version) if version else 0
    if desired > call.store.keyspace.revision:
        raise too_new(desired, call.store.keyspace.revision)
    entry = call.store.get(call.key(), cached=bool(version))
    if entry is None:
        raise not_found(call.named, call.name)
    return seen_as(entry, call.resource)


def read_version(text: str) -> int:
    """A resource version; raises `Failure`."""
    if not (text.isascii() and text.isdigit()):
        raise bad_request(f'invalid resource version: "{text}"')
    return int(text)


def too_new(desired: int, current: int) -> Failure:
    """Nobody has seen such a version yet."""
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    text = f"Timeout: Too large resource version: {desired}, current: {current}"
    return Failure(504, "Timeout", text, About(causes=[cause], retry_after=1))


def list_objects(call: Call) -> Page:
    """A list, or the next part of one; raises `Failure`."""
    request = call.request
    limit = read_number(request.asked("limit") or "0")
    chosen = selection(call)
    if request.asked(_MATCH) and not request.asked("resourceVersion"):
        why = f"{_MATCH} is forbidden unless resourceVersion is provided"
        raise invalid(Named("", "meta.k8s.io", "ListOptions"), "", [forbidden_field(_MATCH, why)])
    if request.asked("continue"):
        return _next_page(call, chosen, request.asked("continue"), limit)
    listed = _read_list(call, limit)
    is_cached = request.asked("resourceVersion") == "0"
    return _page(call, chosen, listed, 0 if is_cached else limit)


def read_number(text: str) -> int:
    """A number of the query; raises `Failure`."""
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def _read_list(call: Call, limit: int) -> Listed:
    version, match = call.request.asked("resourceVersion"), call.request.asked(_MATCH)
    if not version:
        return call.store.list(call.prefix)
    desired = read_version(version)
    current = call.store.keyspace.revision
    if desired > current:
        raise too_new(desired, current)
    if match == "Exact" or (not match and limit and desired):
        try:
            return call.store.list_at(call.prefix, desired)
        except EtcdError as why:
            if why.reason is Reason.COMPACTED:
                raise expired(_OLD_VERSION) from None
            raise
    return call.store.list(call.prefix, cached=True)


def _next_page(call: Call, chosen: Selection, token: str, limit: int) -> Page:
    version, start = _read_token(token)
    prefix = call.prefix
    key = prefix + start.encode()
    if version < 0:
        listed = call.store.list(prefix)
        entries = [entry for entry in listed.entries if entry.key >= key]
        return _page(call, chosen, Listed(listed.revision, entries), limit)
    try:
        listed = call.store.list_at(prefix, version, key)
    except EtcdError as why:
        if why.reason is not Reason.COMPACTED:
            raise
        raise expired(_OLD_TOKEN, **{"continue": _token(-1, start)}) from None
    return _page(call, chosen, listed, limit)


def _page(call: Call, chosen: Selection, listed: Listed, limit: int) -> Page:
    metadata: Object = {"resourceVersion": str(listed.revision)}
    if call.resource.is_custom:
        metadata = {"continue": "", **metadata}
    entries = [seen_as(entry, call.resource) for entry in listed.entries]
    if not chosen.is_everything:
        matches = chosen.matches
        entries = [entry for entry in entries if matches(entry.content)]
    if 0 < limit < len(entries):
        start = entries[limit - 1].key.removeprefix(call.prefix).decode() + "\0"
        metadata["continue"] = _token(listed.revision, start)
        if chosen.is_everything:
            metadata["remainingItemCount"] = len(entries) - limit
        entries = entries[:limit]
    return Page(entries, dict(sorted(metadata.items())))


def _token(version: int, start: str) -> str:
    content = {"v": _TOKEN_VERSION, "rv": version, "start": start}
    written = json.dumps(content, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(written).rstrip(b"=").decode()


def _read_token(token: str) -> tuple[int, str]:
    try:
        padded = token + "=" * (-len(token) % 4)
        content = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        return int(content["rv"]), str(content["start"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise bad_request("invalid continue token: continue key is not valid") from None
