"""Whether a controller of Flux runs, and how it was started."""

from __future__ import annotations

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, entries_of, metadata_of
from stockman_lab.kube.programs import is_ready

_GATES = "--feature-gates="


def image_name(pod: Object) -> str:
    """The last part of the name of the image of a pod's first container."""
    first = next(iter(entries_of(pod, "spec", "containers")), {})
    name = str(first.get("image", "")).partition("@")[0]
    path, _, tag = name.rpartition(":")
    return (name if "/" in tag or not path else path).rpartition("/")[2]


def running_pod(objects: Objects, program: str) -> Object | None:
    """A ready pod of a program; None: nobody does its work."""
    for pod in objects.listed("pods"):
        is_going = bool(metadata_of(pod).get("deletionTimestamp"))
        if image_name(pod) == program and is_ready(pod) and not is_going:
            return pod
    return None


def has_gate(pod: Object, gate: str) -> bool:
    """Whether a feature is switched on in the arguments of a pod."""
    first = next(iter(entries_of(pod, "spec", "containers")), {})
    found = [
        one
        for argument in first.get("args") or ()
        if str(argument).startswith(_GATES)
        for one in str(argument).removeprefix(_GATES).split(",")
    ]
    return f"{gate}=true" in found
