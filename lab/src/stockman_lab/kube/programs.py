"""What is known of programs that run in pods: how soon they are ready, and what they are for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_TABLE = "programs.json"


@dataclass(frozen=True, slots=True)
class Program:
    """One program, told by a part of the name of its image."""

    ready: float = 3.0
    """Seconds from its start until it is ready."""
    runs: float = 8.0
    """Seconds until it ends, where it is one that ends."""
    purpose: str = ""
    """`network`, `load-balancers`, `cloud`, `proxmox-cloud`, `gpu`, `certificates`, `gateways`,
    `metrics`. Empty: nothing that the lab knows of."""
    driver: str = ""
    """The storage driver that it is, or how the names of those end. Empty: it is none."""
    acts: str = ""
    """`helm`: what it does is done, and it ends when it is. Empty: it only runs."""
    definitions: str = ""
    """The table of custom resources that it defines once it runs."""


_PLAIN = Program()


@cache
def _programs() -> dict[str, Program]:
    text = files(__package__).joinpath(_TABLE).read_text("utf-8")
    return {name: Program(**one) for name, one in json.loads(text).items()}


@cache
def program(image: str) -> Program:
    """What is known of an image."""
    name = image.partition("@")[0]
    path, _, tag = name.rpartition(":")
    name = name if "/" in tag or not path else path
    for part, result in _programs().items():
        if name.endswith(f"/{part}") or name == part:
            return result
    return _PLAIN


def purposes(pod: Object) -> set[str]:
    """What a pod is for."""
    result = {
        program(entry.get("image", "")).purpose for entry in entries_of(pod, "spec", "containers")
    }
    return result - {""}


def drives(pod: Object, driver: str) -> bool:
    """Whether a pod is the controller of a storage driver."""
    for entry in entries_of(pod, "spec", "containers"):
        result = program(entry.get("image", "")).driver
        if result and (driver == result or driver.endswith(f".{result}")):
            return True
    return False


def is_running(pod: Object) -> bool:
    """Whether all containers of a pod run."""
    states = entries_of(pod, "status", "containerStatuses")
    return (
        part_of(pod, "status").get("phase") == "Running"
        and bool(states)
        and all("running" in part_of(state, "state") for state in states)
    )


def is_ready(pod: Object) -> bool:
    """Whether a pod says that it is ready."""
    return any(
        entry.get("type") == "Ready" and entry.get("status") == "True"
        for entry in entries_of(pod, "status", "conditions")
    )


def is_mirror(pod: Object) -> bool:
    """Whether a pod stands for one that its machine runs by itself."""
    return "kubernetes.io/config.mirror" in (metadata_of(pod).get("annotations") or {})


def is_daemon(pod: Object) -> bool:
    """Whether a pod belongs to a DaemonSet."""
    owners = metadata_of(pod).get("ownerReferences") or []
    return any(owner.get("kind") == "DaemonSet" and owner.get("controller") for owner in owners)
