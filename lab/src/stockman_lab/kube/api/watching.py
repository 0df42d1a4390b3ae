"""Watching objects: the stream of a request."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman_lab.kube.api.answers import metadata_only
from stockman_lab.kube.api.call import Call, seen_as
from stockman_lab.kube.api.listing import read_number, read_version, too_new
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.negotiating import JSON
from stockman_lab.kube.api.selectors import selection
from stockman_lab.kube.failures import bad_request
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.store.entries import Entry, compact_json
from stockman_lab.kube.store.watch import Sight, Watch, WatchRequest
from stockman_lab.kube.tables.table import Include, table


def table_of(call: Call, entries: list[Entry], metadata: Object) -> Object:
    """Objects as rows; raises `Failure`."""
    requested = call.request.asked("includeObject")
    try:
        include = Include(requested) if requested else Include.METADATA
    except ValueError:
        raise bad_request(f'unrecognized includeObject value: "{requested}"') from None
    contents = (entry.content for entry in entries)
    return table(call.resource, contents, call.context.now, metadata, include)


_SHORTEST, _SPREAD = 1800, 1800
_INITIAL_END = "k8s.io/initial-events-end"


def watch(call: Call) -> Watch:
    """A watch that begins; raises `Failure`."""
    request = call.request
    chosen = selection(call)
    version = request.asked("resourceVersion")
    since: int | None = None
    at_least = read_version(version) if version else 0
    current = call.store.keyspace.revision
    initial = request.is_asked("sendInitialEvents")
    has_initial = "sendInitialEvents" in request.query
    if at_least > current and initial:
        raise too_new(at_least, current)
    if at_least and not initial:
        since = at_least
    elif has_initial and not initial:
        since = current
    if not request.asked("resourceVersion") and not initial:
        call.store.revision()
    matches = chosen.filter
    until = call.context.now + _seconds(call)
    watch_request = WatchRequest(
        call.prefix,
        matches,
        since,
        bookmarks=request.is_asked("allowWatchBookmarks"),
        initial_end=initial and request.is_asked("allowWatchBookmarks"),
        until=until,
        at_least=at_least,
    )
    return Watch(call.store, watch_request)


def _seconds(call: Call) -> float:
    if "timeoutSeconds" in call.request.query:
        number = read_number(call.request.asked("timeoutSeconds"))
        if number > 0:
            return float(number)
    return float(_SHORTEST + call.context.dice.below(_SPREAD))


def watched(call: Call) -> Response:
    """The answer to a watch."""
    begun = watch(call)
    headers = {"Content-Type": JSON, "Cache-Control": "no-cache, private"}
    return Response(200, headers, stream=_lines(call, begun))


async def _lines(call: Call, begun: Watch) -> AsyncIterator[bytes]:
    async for sight in begun.sights():
        yield line(call, sight)


def line(call: Call, sight: Sight) -> bytes:
    """One event as a line of JSON."""
    return b'{"type":"%s","object":%s}\n' % (sight.seen.value.encode(), _object(call, sight))


def _object(call: Call, sight: Sight) -> bytes:
    if sight.failure is not None:
        return compact_json(sight.failure.status)
    if sight.entry is None:
        return compact_json(_bookmark(call, sight))
    entry = seen_as(sight.entry, call.resource)
    if call.wanted.is_metadata:
        return compact_json(metadata_only(entry.content, call.wanted.version))
    if call.wanted.is_table:
        return compact_json(table_of(call, [entry], {"resourceVersion": str(entry.revision)}))
    return entry.encoded


def _bookmark(call: Call, sight: Sight) -> Object:
    metadata: Object = {"resourceVersion": str(sight.revision)}
    if sight.is_initial_end:
        metadata["annotations"] = {_INITIAL_END: "true"}
    resource = call.resource
    return _empty(call) | {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": metadata,
    }


def _empty(call: Call) -> Object:
    if call.resource.is_custom:
        return {}
    content = rewritten(call.shape, {})
    return content if isinstance(content, dict) else {}
