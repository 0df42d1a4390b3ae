"""Logs of pods: the subresource `log`, which the server fetches from the kubelet of a node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.admission.draft import forbidden_field, wrong
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.listing import get, read_number
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.failures import Cause, Failure, Named, bad_request, invalid, not_found
from stockman_lab.kube.log_lines import NoLogs, container_of, log_lines
from stockman_lab.kube.objects import Object, entries_of, part_of
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.type import Kind, Type

_TEXT = {"Content-Type": "text/plain", "Cache-Control": "no-cache, private"}
_KUBELET_PORT = 10250
_TIME = Type(Kind.TIME)


@dataclass(frozen=True, slots=True)
class _Wish:
    """Which lines are wanted, and how they look."""

    container: str
    since: float = 0.0
    tail: int | None = None
    most_bytes: int | None = None
    timestamps: bool = False
    previous: bool = False


Written = Callable[[Object], list[tuple[float, str]] | None]
"""What the program in a pod really wrote; None: it is one of which that is made up."""


def pod_log(call: Call, written: Written = lambda _: None) -> Response:
    """What a container said; raises `Failure`."""
    wish = _wish(call)
    pod = get(call).content
    try:
        wish = replace(wish, container=str(container_of(pod, wish.container)["name"]))
    except NoLogs as why:
        raise bad_request(str(why)) from None
    if not part_of(pod, "spec").get("nodeName"):
        return Response(204)
    _reach(call, pod, wish.container)
    cut = _cut(_said(pod, wish, call.around.now, written(pod)), wish)
    if not call.request.is_asked("follow") or wish.previous:
        return Response(200, dict(_TEXT), _written(cut, wish))
    return Response(200, dict(_TEXT), stream=_followed(call, wish, cut, written))


def _number(call: Call, name: str) -> int | None:
    return read_number(call.request.asked(name)) if name in call.request.query else None


def _wish(call: Call) -> _Wish:
    request = call.request
    tail, most = _number(call, "tailLines"), _number(call, "limitBytes")
    seconds, moment = _number(call, "sinceSeconds"), request.asked("sinceTime")
    why = decoding_error(_TIME, moment) if moment else ""
    if why:
        raise bad_request(why)
    causes: list[Cause] = []
    if tail is not None and tail < 0:
        causes.append(wrong("tailLines", tail, "must be greater than or equal to 0"))
    if most is not None and most < 1:
        causes.append(wrong("limitBytes", most, "must be greater than 0"))
    if seconds is not None and moment:
        text = "at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(forbidden_field("[]", text))
    elif seconds is not None and seconds < 1:
        causes.append(wrong("sinceSeconds", seconds, "must be greater than 0"))
    if request.asked("stream"):
        causes.append(forbidden_field("stream", "may not be specified"))
    if causes:
        raise invalid(Named("", "", "PodLogOptions"), call.name, causes)
    since = call.around.now - seconds if seconds else _seconds(moment) if moment else 0.0
    return _Wish(
        request.asked("container"),
        since,
        tail,
        most,
        request.is_asked("timestamps"),
        request.is_asked("previous"),
    )


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _reach(call: Call, pod: Object, container: str) -> None:
    """Refuse where the kubelet of the node does not answer."""
    name = part_of(pod, "spec")["nodeName"]
    found = call.store.get(ObjectKey("nodes", name).key)
    if found is None:
        raise not_found(Named("pods"), name)
    addresses = {
        entry.get("type"): entry.get("address")
        for entry in reversed(entries_of(found.content, "status", "addresses"))
    }
    kinds = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
    host = addresses.get("InternalIP") or next(
        (addresses[kind] for kind in kinds if kind in addresses), None
    )
    if host is None:
        raise Failure(500, "", "no preferred addresses found; known addresses: []")
    ready = next(
        (
            entry
            for entry in entries_of(found.content, "status", "conditions")
            if entry.get("type") == "Ready"
        ),
        {},
    )
    if ready.get("status") == "Unknown":
        told = part_of(found.content, "status", "daemonEndpoints", "kubeletEndpoint")
        place = f"{host}:{told.get('Port') or _KUBELET_PORT}"
        path = f"containerLogs/{call.namespace}/{call.name}/{container}"
        why = f"dial tcp {place}: connect: no route to host"
        raise Failure(500, "", f'Get "https://{place}/{path}": {why}')


def _said(
    pod: Object, wish: _Wish, now: float, written: list[tuple[float, str]] | None
) -> list[tuple[float, str]]:
    try:
        if wish.previous:
            return log_lines(_before(pod, wish.container), wish.container, now)
        return log_lines(pod, wish.container, now, written)
    except NoLogs as why:
        raise bad_request(str(why)) from None


def _before(pod: Object, container: str) -> Object:
    """A pod as if a container had not been started again; raises `Failure`."""
    statuses = [
        *entries_of(pod, "status", "initContainerStatuses"),
        *entries_of(pod, "status", "containerStatuses"),
    ]
    state = next((one for one in statuses if one.get("name") == container), {})
    ended = part_of(state, "lastState", "terminated")
    if not ended:
        name = part_of(pod, "metadata").get("name")
        text = f'previous terminated container "{container}" in pod "{name}" not found'
        raise bad_request(text)
    status = {"containerStatuses": [{**state, "state": {"terminated": ended}}]}
    return {**pod, "status": status}


def _cut(said: list[tuple[float, str]], wish: _Wish) -> list[tuple[float, str]]:
    kept = [one for one in said if one[0] >= wish.since]
    return kept if wish.tail is None else kept[max(len(kept) - wish.tail, 0) :]


def _written(said: list[tuple[float, str]], wish: _Wish) -> bytes:
    lines = (
        f"{_moment(moment)} {text}\n" if wish.timestamps else f"{text}\n" for moment, text in said
    )
    return "".join(lines).encode()[: wish.most_bytes]


def _moment(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


async def _followed(
    call: Call, wish: _Wish, said: list[tuple[float, str]], written: Written
) -> AsyncIterator[bytes]:
    """What is said from now on, until the container ends or the limit is reached."""
    left = wish.most_bytes
    last = max((moment for moment, _ in said), default=call.around.now)
    while True:
        piece = _written(said, wish)[:left]
        if piece:
            yield piece
        left = None if left is None else left - len(piece)
        found = call.store.get(call.key(), cached=True)
        if left == 0 or found is None or _has_ended(found.content, wish.container):
            return
        await call.store.bell.rung()
        found = call.store.get(call.key(), cached=True)
        if found is None:
            return
        try:
            now, pod = call.around.now, found.content
            fresh = log_lines(pod, wish.container, now, written(pod))
        except NoLogs:
            return
        said = [one for one in fresh if one[0] > last]
        last = max((moment for moment, _ in said), default=last)


def _has_ended(pod: Object, container: str) -> bool:
    statuses = entries_of(pod, "status", "containerStatuses")
    state = next((status for status in statuses if status.get("name") == container), {})
    return bool(part_of(state, "state", "terminated"))
