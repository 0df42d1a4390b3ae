"""What is asked for below an object, beside its status."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.api.answers import of_entry
from stockman_lab.kube.api.binding import bind
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.evicting import evict
from stockman_lab.kube.api.listing import get
from stockman_lab.kube.api.logs import pod_log
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.patches import patch
from stockman_lab.kube.api.scaling import scale
from stockman_lab.kube.api.updating import update
from stockman_lab.kube.failures import Failure, bad_request

Handler = Callable[[Call], Response]


def answer_subresource(call: Call, more: dict[tuple[str, str], Handler]) -> Response:
    """The answer to a request for a subresource."""
    name = call.route.subresource
    special = more.get((call.resource.plural, name)) or _HANDLERS.get(name)
    if special is not None:
        return special(call)
    if name in _WRITTEN_AS_OBJECT:
        return _as_object(call)
    text = f"the lab does not serve {call.resource.plural}/{name}"
    raise Failure(501, "NotImplemented", text)


_WRITTEN_AS_OBJECT = frozenset({"status", "finalize"})


def _as_object(call: Call) -> Response:
    match call.route.verb:
        case "get":
            return of_entry(get(call))
        case "update":
            entry = update(call)
        case _:
            entry, _ = patch(call)
    return of_entry(entry)


def _refuse(call: Call) -> Response:
    get(call)
    text = f"{call.route.subresource} is not simulated: containers of the lab are not really there"
    raise bad_request(text)


_HANDLERS: dict[str, Handler] = {
    "scale": scale,
    "eviction": evict,
    "binding": bind,
    "log": pod_log,
    "exec": _refuse,
    "attach": _refuse,
    "portforward": _refuse,
    "proxy": _refuse,
}
