"""Tables of events, of either group."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import Cells, Object, at, cells_of, name_of, number, text


@cells_of("v1/events")
def event_cells(event: Object, ages: Ages) -> Cells:
    """Last seen, type, reason, object, part of it, source, message, first seen, count, name."""
    first = at(event, "firstTimestamp") or at(event, "eventTime")
    last = at(event, "lastTimestamp") or first
    count = number(event, "count") or 1
    series = at(event, "series")
    if series is not None:
        last, count = at(series, "lastObservedTime"), number(series, "count")
    about = at(event, "involvedObject")
    kind, name = text(about, "kind").lower(), text(about, "name")
    return [
        ages.since(last),
        text(event, "type"),
        text(event, "reason"),
        f"{kind}/{name}" if name else kind,
        text(about, "fieldPath"),
        _source(event),
        text(event, "message").strip(),
        ages.since(first),
        count,
        name_of(event),
    ]


def _source(event: Object) -> str:
    component = text(event, "source", "component") or text(event, "reportingComponent")
    host = text(event, "source", "host") or text(event, "reportingInstance")
    return f"{component}, {host}" if host else component


_OLD_NAMES = {
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "source": "deprecatedSource",
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
}


@cells_of("events.k8s.io/v1/events")
def new_event_cells(event: Object, ages: Ages) -> Cells:
    """The same of an event of the newer group."""
    return event_cells({**event, **{old: event.get(new) for old, new in _OLD_NAMES.items()}}, ages)
