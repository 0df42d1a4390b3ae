"""Lines that programs in pods are believed to have written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time
from stockman_lab.kube.programs import program

_EVERY = 47.0
_MOST = 2000
_BEGIN = ("starting", "configuration loaded", "listening", "ready")
_GO_ON = ("reconciled", "synced", "handled request", "resynced caches", "heartbeat")


class NoLogs(Exception):
    """Why there is nothing to read, in the words of the API server."""


def container_of(pod: Object, name: str) -> Object:
    """The container whose log is meant; raises `NoLogs`."""
    spec, called = part_of(pod, "spec"), metadata_of(pod).get("name")
    kinds = ("initContainers", "containers", "ephemeralContainers")
    every = [entry for kind in kinds for entry in entries_of(spec, kind)]
    if name:
        for container in every:
            if container["name"] == name:
                return container
        raise NoLogs(f"container {name} is not valid for pod {called}")
    only = entries_of(spec, "containers")
    if len(only) == 1:
        return only[0]
    names = " ".join(str(content["name"]) for content in every)
    raise NoLogs(f"a container name must be specified for pod {called}, choose one of: [{names}]")


def log_lines(
    pod: Object, name: str, now: float, written: list[tuple[float, str]] | None = None
) -> list[tuple[float, str]]:
    """Moments and lines of a container since it began; raises `NoLogs`.

    What a program that acts has written is given.
    """
    container = container_of(pod, name)
    states = [
        *entries_of(pod, "status", "initContainerStatuses"),
        *entries_of(pod, "status", "containerStatuses"),
    ]
    state = next((one for one in states if one["name"] == container["name"]), {})
    since = part_of(state, "state", "running").get("startedAt")
    ended = part_of(state, "state", "terminated")
    if not since and not ended:
        why = part_of(state, "state", "waiting").get("reason", "ContainerCreating")
        text = f'container "{container["name"]}" in pod "{metadata_of(pod).get("name")}" is waiting'
        raise NoLogs(f"{text} to start: {why}")
    begin = _seconds(str(since or ended.get("startedAt")))
    end = _seconds(str(ended["finishedAt"])) if ended else now
    if written is not None and program(str(container.get("image", ""))).acts:
        return [item for item in written if begin - 1.0 <= item[0] <= end + 1.0]
    return list(_lines(pod, container, begin, end))


def _lines(pod: Object, container: Object, begin: float, end: float) -> Iterator[tuple[float, str]]:
    moments = [begin + 0.2 * number for number in range(len(_BEGIN))]
    for moment, text in zip(moments, _BEGIN, strict=True):
        if moment <= end:
            yield moment, _line(moment, container, text)
    count = min(int((end - begin) / _EVERY), _MOST)
    uid = str(metadata_of(pod).get("uid", ""))
    for number in range(max(int((end - begin) / _EVERY) - count, 0) + 1, count + 1):
        digest = hashlib.sha256(f"{uid}/{number}".encode()).digest()
        moment = begin + number * _EVERY
        yield moment, _line(moment, container, _GO_ON[digest[0] % len(_GO_ON)])


def _line(moment: float, container: Object, text: str) -> str:
    return f'time="{written_time(moment)}" level=info msg="{text}" component={container["name"]}'


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()
