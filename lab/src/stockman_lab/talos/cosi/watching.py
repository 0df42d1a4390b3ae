"""Following resources: what is there at first, and what happens to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.collection import (
    BOOTSTRAPPED,
    CREATED,
    DESTROYED,
    NOOP,
    Collection,
    Happened,
    InvalidBookmark,
)
from stockman_lab.talos.cosi.queries import Wanted, looked_at, wanted
from stockman_lab.talos.cosi.seen import tombstone

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call

Event = Mapping[str, object]
_BOTH = "cannot use both TailEvents and StartFromBookmark options"
_ALL = "cannot use BootstrapContents with TailEvents and StartFromBookmark options"


async def watched(call: Call) -> AsyncIterator[Mapping[str, object]]:
    """The answers of a watch, the empty one that says it stands first."""
    options = call.request.options
    has_bookmark = options.HasField("start_from_bookmark")
    if options.tail_events > 0 and has_bookmark:
        raise Refusal(GrpcCode.UNKNOWN, _BOTH)
    found = looked_at(call)
    boot = call.machine.state.boot
    single = call.request.HasField("id")
    first, position = _single_start(call, found) if single else _kind_start(call, found)
    fits = _only(call.request.id) if single else wanted(options)
    yield {}
    for answer in _answers(first, together=options.aggregated and not single):
        yield answer
    while True:
        happened = found.since(position)
        position = found.position
        events = [event for each in happened for event in _event(found, each, fits)]
        for answer in _answers(events, together=options.aggregated and not single):
            yield answer
        await call.changed()
        if call.machine.state.boot != boot:
            raise Refusal(GrpcCode.UNAVAILABLE, "error reading from server: EOF")
        found.look()


def _single_start(call: Call, collection: Collection) -> tuple[list[Event], int]:
    options, name = call.request.options, str(call.request.id)
    if options.bootstrap_contents:
        text = "bootstrap contents is not implemented for resource watch"
        raise Refusal(GrpcCode.UNIMPLEMENTED, text)
    if options.label_query:
        text = "label query is not implemented for resource watch"
        raise Refusal(GrpcCode.UNIMPLEMENTED, text)
    if options.HasField("start_from_bookmark"):
        return [], _behind(collection, options.start_from_bookmark, lowest=0)
    if options.tail_events > 0:
        own = [event.position for event in collection.events if event.resource.id == name]
        return [], own[-options.tail_events :][0] if own else collection.position
    there = collection.items.get(name)
    if there is not None:
        return [{"event_type": CREATED, "resource": there.fields}], collection.position
    gone = tombstone(call.request.namespace, call.request.type, name, call.now)
    return [{"event_type": DESTROYED, "resource": gone}], collection.position


def _kind_start(call: Call, collection: Collection) -> tuple[list[Event], int]:
    options = call.request.options
    has_bookmark = options.HasField("start_from_bookmark")
    if options.bootstrap_contents and (options.tail_events > 0 or has_bookmark):
        raise Refusal(GrpcCode.UNKNOWN, _ALL)
    position = collection.position
    if options.tail_events > 0:
        position = collection.tail(options.tail_events)
    elif has_bookmark:
        position = _behind(collection, options.start_from_bookmark, lowest=-1)
    mark = {
        "resource": tombstone(call.request.namespace, call.request.type, "", call.now),
        "bookmark": collection.bookmark(position - 1),
    }
    events: list[Event] = []
    if options.bootstrap_contents:
        fits = wanted(options)
        rows = [one for _, one in sorted(collection.items.items()) if fits(one)]
        events += [{"event_type": CREATED, "resource": result.fields} for result in rows]
        if call.request.api_version >= 1:
            events.append({"event_type": BOOTSTRAPPED, **mark})
    if options.bootstrap_bookmark:
        events.append({"event_type": NOOP, **mark})
    return events, position


def _behind(collection: Collection, bookmark: bytes, *, lowest: int) -> int:
    try:
        return collection.behind(bookmark, lowest=lowest)
    except InvalidBookmark:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "invalid watch bookmark") from None


def _only(name: str) -> Wanted:
    return lambda resource: resource.id == name


def _event(collection: Collection, happened: Happened, fits: Wanted) -> Iterable[Event]:
    """What a follower is told; where it asks by labels, these may begin or cease to fit."""
    what, old = happened.what, happened.old
    is_in = fits(happened.resource)
    was_in = fits(old) if old is not None else is_in
    if old is not None and is_in is not was_in:
        what, old = (CREATED, None) if is_in else (DESTROYED, None)
    elif not is_in:
        return
    event: dict[str, object] = {
        "event_type": what,
        "resource": happened.resource.fields,
        "bookmark": collection.bookmark(happened.position),
    }
    if old is not None:
        event["old"] = old.fields
    yield event


def _answers(events: list[Event], *, together: bool) -> Iterable[Mapping[str, object]]:
    if together:
        return [{"event": events}] if events else []
    return [{"event": [event]} for event in events]
