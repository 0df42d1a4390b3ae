"""Getting and listing objects."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass

from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.kube.admission.draft import quoted
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.list_options import check_list_options
from stockman_lab.kube.api.selecting import Selection, selection
from stockman_lab.kube.api.versions import seen_as
from stockman_lab.kube.failures import About, Cause, Failure, bad_request, expired, not_found
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Listed

_TOKEN_VERSION = "meta.k8s.io/v1"
_OLD_TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results. Continuing with the provided token results in an"
    " inconsistent list - objects that were created, modified, or deleted between the time the"
    " first chunk was returned and now may show up in the list."
)
_OLD_VERSION = "The resourceVersion for the provided list is too old."


@dataclass(frozen=True, slots=True)
class Page:
    """What a list answers."""

    entries: list[Entry]
    metadata: Object


def get(call: Call) -> Entry:
    """One object; raises `Failure`."""
    if call.request.is_asked("export"):
        raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    version = call.request.asked("resourceVersion")
    wanted = read_version(version) if version else 0
    if wanted > call.store.keyspace.revision:
        raise too_new(wanted, call.store.keyspace.revision)
    entry = call.store.get(call.key(), cached=bool(version))
    if entry is None:
        raise not_found(call.named, call.name)
    return seen_as(entry, call.resource)


def read_version(text: str) -> int:
    """A resource version; raises `Failure`."""
    why = version_error(text)
    if why:
        raise Failure(500, "", f"resourceVersion: {why}")
    return int(text)


def version_error(text: str) -> str:
    """Why a text is no resource version; empty: it is one."""
    if not _UNSIGNED.fullmatch(text):
        why = "invalid syntax"
    elif len(text) > _DIGITS or int(text) >= 1 << 64:
        why = "value out of range"
    else:
        return ""
    told = quoted(text)
    return f"Invalid value: {told}: strconv.ParseUint: parsing {told}: {why}"


def too_new(wanted: int, current: int) -> Failure:
    """Nobody has seen such a version yet."""
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    text = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return Failure(504, "Timeout", text, About(causes=[cause], retry_after=1))


def list_objects(call: Call) -> Page:
    """A list, or the next part of one; raises `Failure`."""
    request = call.request
    limit = _number(call, "limit")
    _number(call, "timeoutSeconds")
    chosen = selection(call)
    token = request.asked("continue")
    check_list_options(request)
    if token:
        return _continued(call, chosen, token, limit)
    listed = _listed(call, limit)
    is_cached = request.asked("resourceVersion") == "0"
    return _page(call, chosen, listed, 0 if is_cached else limit)


def read_number(text: str) -> int:
    """A number of the query; raises `Failure`."""
    why = ""
    if not _SIGNED.fullmatch(text):
        why = "invalid syntax"
    elif len(text) > _DIGITS or not -(1 << 63) <= int(text) < 1 << 63:
        why = "value out of range"
    if why:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: {why}")
    return int(text)


def _number(call: Call, name: str) -> int:
    return read_number(call.request.asked(name)) if name in call.request.query else 0


def _listed(call: Call, limit: int) -> Listed:
    version, match = (
        call.request.asked("resourceVersion"),
        call.request.asked("resourceVersionMatch"),
    )
    if not version:
        return call.store.list(call.prefix)
    why_not = version_error(version)
    if why_not:
        raise bad_request(f"invalid resource version: resourceVersion: {why_not}")
    wanted = read_version(version)
    exact = match == "Exact" or (not match and limit and wanted)
    current = call.store.keyspace.revision
    if wanted > current:
        raise too_new(wanted, current)
    if exact:
        try:
            return call.store.list_at(call.prefix, wanted)
        except EtcdError as why:
            if why.reason is Reason.COMPACTED:
                raise expired(_OLD_VERSION) from None
            raise
    return call.store.list(call.prefix, cached=True)


def _continued(call: Call, chosen: Selection, token: str, limit: int) -> Page:
    version, start = _read_token(token)
    if call.request.asked("resourceVersion") not in {"", "0"}:
        text = "specifying resource version is not allowed when using continue"
        raise bad_request(text)
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
    resource = call.resource
    metadata: Object = {"resourceVersion": str(listed.revision)}
    if resource.is_custom:
        metadata = {"continue": "", **metadata}
    entries = listed.entries
    if entries and entries[0].content.get("apiVersion") != resource.api_version:
        entries = [seen_as(entry, resource) for entry in entries]
    if not chosen.is_everything:
        matches = chosen.matches
        entries = [entry for entry in entries if matches(entry.content)]
    if 0 < limit < len(entries):
        start = entries[limit - 1].key.removeprefix(call.prefix).decode() + "\0"
        metadata["continue"] = _token(listed.revision, start)
        if chosen.is_everything:
            metadata["remainingItemCount"] = len(entries) - limit
        entries = entries[:limit]
    if resource.is_custom:
        metadata = dict(sorted(metadata.items()))
    return Page(entries, metadata)


def _token(version: int, start: str) -> str:
    content = {"v": _TOKEN_VERSION, "rv": version, "start": start}
    written = json.dumps(content, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(written).rstrip(b"=").decode()


def _read_token(token: str) -> tuple[int, str]:
    good = _WELL_ENCODED.match(token)
    end = len(good[0]) if good else 0
    if end < len(token) or len(token) % 4 == 1:
        raise _bad_token(f"illegal base64 data at input byte {min(end, len(token) - 1)}")
    try:
        padded = token + "=" * (-len(token) % 4)
        content = base64.b64decode(padded, altchars=b"-_", validate=True)
        found = json.loads(content)
    except UnicodeDecodeError as why:
        raise _bad_token(_unreadable(content[why.start], why.start)) from None
    except (binascii.Error, ValueError, RecursionError) as why:
        raise _bad_token(str(why)) from None
    told = found if isinstance(found, dict) else {}
    form, version, start = told.get("v", ""), told.get("rv", 0), told.get("start", "")
    if form != _TOKEN_VERSION:
        raise _bad_token(f"server does not recognize this encoded version {form}")
    if not isinstance(version, int) or version == 0:
        raise _bad_token(f"incorrect encoded start resourceVersion (version {form})")
    if not isinstance(start, str) or not start:
        raise _bad_token(f"encoded start key empty (version {form})")
    if any(part in {".", ".."} for part in start.split("/")):
        raise _bad_token(start)
    return version, start


_WELL_ENCODED = re.compile("[A-Za-z0-9_-]*")
_SIGNED, _UNSIGNED = re.compile("[-+]?[0-9]+"), re.compile("[0-9]+")
_DIGITS = 25


def _unreadable(letter: int, place: int) -> str:
    where = "looking for beginning of value" if not place else "in string literal"
    return f"invalid character '\\u{letter:04x}' {where}"


def _bad_token(why: str) -> Failure:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
