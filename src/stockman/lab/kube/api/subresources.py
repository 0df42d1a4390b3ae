"""What is asked for below an object, beside its status."""

from __future__ import annotations

from collections.abc import Callable

from stockman.lab.kube.api.answers import raw
from stockman.lab.kube.api.binding import bind
from stockman.lab.kube.api.call import Call
from stockman.lab.kube.api.evicting import evict
from stockman.lab.kube.api.listing import get
from stockman.lab.kube.api.messages import Response
from stockman.lab.kube.api.patches import patch
from stockman.lab.kube.api.scaling import scale
from stockman.lab.kube.api.updating import update
from stockman.lab.kube.failures import Failure, bad_request
from stockman.lab.kube.objects import Object, part_of

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


_WRITTEN_AS_OBJECT = frozenset({"status", "finalize", "approval", "ephemeralcontainers", "resize"})


def _as_object(call: Call) -> Response:
    match call.route.verb:
        case "get":
            return raw(get(call).encoded, call.wanted)
        case "update":
            entry, _ = update(call)
        case _:
            entry, _ = patch(call)
    return raw(entry.encoded, call.wanted)


def _log(call: Call) -> Response:
    pod = get(call).content
    containers = [one.get("name") for one in _containers(pod)]
    wanted = call.request.asked("container")
    name = call.name
    if not wanted:
        if len(part_of(pod, "spec").get("containers") or []) != 1:
            shown = " ".join(str(one) for one in containers)
            raise bad_request(
                f"a container name must be specified for pod {name}, choose one of: [{shown}]"
            )
        wanted = str(containers[0])
    elif wanted not in containers:
        raise bad_request(f"container {wanted} is not valid for pod {name}")
    if not part_of(pod, "spec").get("nodeName"):
        return Response(200, {"Content-Type": "text/plain"})
    raise bad_request(
        f'container "{wanted}" in pod "{name}" is waiting to start: ContainerCreating'
    )


def _containers(pod: Object) -> list[Object]:
    spec = part_of(pod, "spec")
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [one for kind in kinds for one in spec.get(kind) or []]


def _refused(call: Call) -> Response:
    name = call.route.subresource
    text = f"{name} is not simulated: containers of the lab are not really there"
    raise bad_request(text)


_HANDLERS: dict[str, Handler] = {
    "scale": scale,
    "eviction": evict,
    "binding": bind,
    "log": _log,
    "exec": _refused,
    "attach": _refused,
    "portforward": _refused,
    "proxy": _refused,
}
