"""What a kubelet remembers of a pod between two looks at it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from stockman_lab.kube.objects import Object, metadata_of


@dataclass(slots=True)
class Memory:
    """One pod on its machine."""

    uid: str
    stage: str = "new"
    """`new`, `creating`, `starting`, `running`, `ready`, `backing-off`, `stopping`, `ended`."""
    due: float = 0.0
    """When the next stage comes. 0: nothing is on its way."""
    boot: str = ""
    address: str = ""
    restarts: int = 0
    running_since: float | None = None
    last: dict[str, object] = field(default_factory=dict)
    tries: int = 0
    """How often something failed in a row."""
    waiting: str = "ContainerCreating"
    waiting_message: str = ""
    ended: dict[str, object] = field(default_factory=dict)


class Memories:
    """Of all pods, kept among the notes of controllers."""

    def __init__(self, notes: dict[str, str]) -> None:
        self._notes = notes

    def of(self, pod: Object) -> Memory:
        """What is remembered of a pod; nothing of one that is new."""
        metadata = metadata_of(pod)
        text = self._notes.get(_place(metadata.get("namespace", ""), metadata["name"]))
        memory = Memory(**json.loads(text)) if text else None
        return (
            memory
            if memory is not None and memory.uid == metadata.get("uid")
            else Memory(str(metadata.get("uid", "")))
        )

    def keep(self, pod: Object, memory: Memory) -> None:
        """Remember."""
        metadata = metadata_of(pod)
        key = _place(metadata.get("namespace", ""), metadata["name"])
        self._notes[key] = json.dumps(asdict(memory), separators=(",", ":"))

    def forget(self, key: str) -> None:
        """A pod is gone: `namespace/name`."""
        self._notes.pop(f"kubelet {key}", None)


def _place(namespace: str, name: str) -> str:
    return f"kubelet {namespace}/{name}"
