"""Logs of pods: the subresource `log`, which the server fetches from the kubelet of a node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.listing import get, read_number
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.failures import Failure, bad_request
from stockman_lab.kube.log_lines import NoLogs, container_of, log_lines
from stockman_lab.kube.objects import Object, entries_of, part_of

_TEXT = {"Content-Type": "text/plain", "Cache-Control": "no-cache, private"}
Line = tuple[float, str]
"""A moment and what was said."""


@dataclass(frozen=True, slots=True)
class _Options:
    """Which lines are shown, and how they look."""

    container: str
    since: float
    tail: int | None
    most_bytes: int | None
    timestamps: bool
    previous: bool


Written = Callable[[Object], list[Line] | None]
"""What the program in a pod really wrote; None: it is one of which that is made up."""


def pod_log(call: Call, written: Written = lambda _: None) -> Response:
    """What a container said; raises `Failure`."""
    pod = get(call).content
    try:
        options = _options(call, str(container_of(pod, call.request.asked("container"))["name"]))
        if not part_of(pod, "spec").get("nodeName"):
            return Response(204)
        _check_node(call, pod)
        lines = _lines(pod, options, call.context.now, written)
    except NoLogs as why:
        raise bad_request(str(why)) from None
    if not call.request.is_asked("follow") or options.previous:
        return Response(200, dict(_TEXT), _text(lines, options))
    return Response(200, dict(_TEXT), stream=_follow(call, options, lines, written))


def _options(call: Call, container: str) -> _Options:
    request = call.request

    def number(name: str) -> int | None:
        return read_number(request.asked(name)) if name in request.query else None

    seconds, moment = number("sinceSeconds"), request.asked("sinceTime")
    since = call.context.now - seconds if seconds else 0.0
    return _Options(
        container,
        datetime.fromisoformat(moment).timestamp() if moment else since,
        number("tailLines"),
        number("limitBytes"),
        request.is_asked("timestamps"),
        request.is_asked("previous"),
    )


def _check_node(call: Call, pod: Object) -> None:
    """Refuse where the kubelet of the node does not answer."""
    name = part_of(pod, "spec")["nodeName"]
    node = call.store.get(ObjectKey("nodes", name).key)
    conditions = [] if node is None else entries_of(node.content, "status", "conditions")
    if any(
        condition.get("type") == "Ready" and condition.get("status") == "Unknown"
        for condition in conditions
    ):
        raise Failure(500, "", f"dial tcp {name}:10250: connect: no route to host")


def _lines(
    pod: Object, options: _Options, now: float, written: Written, after: float | None = None
) -> list[Line]:
    """Lines of a container, or those behind a moment; raises `NoLogs`."""
    if options.previous:
        pod = _before_restart(pod, options.container)
    lines = log_lines(pod, options.container, now, None if options.previous else written(pod))
    if after is not None:
        return [line for line in lines if line[0] > after]
    kept = [line for line in lines if line[0] >= options.since]
    return kept if options.tail is None else kept[max(len(kept) - options.tail, 0) :]


def _before_restart(pod: Object, container: str) -> Object:
    """A pod as if a container had not been started again; raises `NoLogs`."""
    statuses = entries_of(pod, "status", "containerStatuses")
    state = next((status for status in statuses if status.get("name") == container), {})
    ended = part_of(state, "lastState", "terminated")
    if not ended:
        name = part_of(pod, "metadata").get("name")
        raise NoLogs(f'previous terminated container "{container}" in pod "{name}" not found')
    return {**pod, "status": {"containerStatuses": [{**state, "state": {"terminated": ended}}]}}


def _text(lines: list[Line], options: _Options) -> bytes:
    shown = (
        f"{_moment(moment)} {text}\n" if options.timestamps else f"{text}\n"
        for moment, text in lines
    )
    return "".join(shown).encode()[: options.most_bytes]


def _moment(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


async def _follow(
    call: Call, options: _Options, lines: list[Line], written: Written
) -> AsyncIterator[bytes]:
    """What is said from now on, until the container ends."""
    last = max((moment for moment, _ in lines), default=call.context.now)
    while True:
        if lines:
            yield _text(lines, options)
        entry = call.store.get(call.key(), cached=True)
        if entry is None or _has_ended(entry.content, options.container):
            return
        await call.store.bell.rung()
        entry = call.store.get(call.key(), cached=True)
        if entry is None:
            return
        try:
            lines = _lines(entry.content, options, call.context.now, written, last)
        except NoLogs:
            return
        last = max((moment for moment, _ in lines), default=last)


def _has_ended(pod: Object, container: str) -> bool:
    statuses = entries_of(pod, "status", "containerStatuses")
    state = next((status for status in statuses if status.get("name") == container), {})
    return bool(part_of(state, "state", "terminated"))
