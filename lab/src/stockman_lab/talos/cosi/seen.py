"""A resource as it was seen at some moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNDEFINED = "undefined"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Seen:
    """One resource in one version."""

    namespace: str
    type: str
    id: str
    version: int
    owner: str
    created: float
    updated: float
    spec: Mapping[str, object]
    """Message and YAML."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, object]:
        """Those of `cosi.resource.Resource`."""
        return {
            "metadata": {
                "namespace": self.namespace,
                "type": self.type,
                "id": self.id,
                "version": str(self.version),
                "owner": self.owner,
                "phase": RUNNING,
                "created": self.created,
                "updated": self.updated,
                "labels": self.labels,
                "annotations": self.annotations,
            },
            "spec": self.spec,
        }


def tombstone(namespace: str, kind: str, name: str, now: float) -> dict[str, object]:
    """What stands for a resource that is not there."""
    return {
        "metadata": {
            "namespace": namespace,
            "type": kind,
            "id": name,
            "version": UNDEFINED,
            "phase": RUNNING,
            "created": now,
            "updated": now,
        },
        "spec": {},
    }
