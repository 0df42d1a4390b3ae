"""Tables: lists as `kubectl get` shows them."""

from __future__ import annotations

from stockman_lab.kube.api.call import Call
from stockman_lab.kube.failures import bad_request
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.tables.table import Include, table


def table_of(call: Call, entries: list[Entry], metadata: Object) -> Object:
    """Objects as rows; raises `Failure`."""
    asked = call.request.asked("includeObject")
    try:
        include = Include(asked) if asked else Include.METADATA
    except ValueError:
        raise bad_request(f'unrecognized includeObject value: "{asked}"') from None
    contents = (entry.content for entry in entries)
    return table(call.resource, contents, call.around.now, metadata, include)
