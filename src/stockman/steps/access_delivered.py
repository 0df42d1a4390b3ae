"""Whether a component in the cluster works with its new token."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import ClassVar

from stockman.model.errors import NotFound
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import PODS, SECRETS, Ref
from stockman.ports.kubernetes.objects import Object, Selection
from stockman.steps.base import Answer, Gate, Verdict
from stockman.steps.kube_reading import entries, part, text
from stockman.steps.ports import Ports

_OVER = ("Succeeded", "Failed")


@record
class TokenDelivered(Gate):
    """The Secret of a component names a token, and its pods began after that.

    Programs read their configuration when they start. Reloader restarts them, where it is on.
    """

    kind: ClassVar[str] = "access.delivered"
    namespace: str
    secret: str
    key: str
    token: str
    """`user@realm!name`."""

    @property
    def summary(self) -> str:
        return f"pods in {self.namespace} with Secret {self.secret} use token {self.token}"

    async def check(self, ports: Ports) -> Verdict:
        kubernetes = ports.to_kubernetes()
        try:
            found = await kubernetes.get(
                Ref(kind=SECRETS, name=self.secret, namespace=self.namespace)
            )
        except NotFound:
            return Verdict(answer=Answer.GO, because="there is no such Secret: nobody reads it")
        if self.token not in _decoded(found, self.key):
            why = f"Secret {self.secret} has another token; push what was rendered"
            return Verdict(answer=Answer.WAIT, because=why)
        pods = (await kubernetes.objects(PODS, Selection(namespace=self.namespace))).items
        mine = [one for one in pods if _mounts(one, self.secret)]
        written = _written(found)
        older = [one for one in mine if text(one, "status", "startTime") < written]
        seen = f"{len(mine) - len(older)} of {len(mine)} pods began after Secret {self.secret}"
        if older:
            why = f"{seen} was written at {written}; without reloader, restart them"
            return Verdict(answer=Answer.WAIT, because=why)
        return Verdict(answer=Answer.GO, because=f"{seen} was written")


def _decoded(content: Object, key: str) -> str:
    try:
        return base64.b64decode(text(content, "data", key)).decode(errors="replace")
    except binascii.Error:
        return ""


def _mounts(pod: Object, secret: str) -> bool:
    if text(pod, "status", "phase") in _OVER:
        return False
    return any(
        text(volume, "secret", "secretName") == secret or _projects(volume, secret)
        for volume in entries(pod, "spec", "volumes")
    )


def _projects(volume: Mapping[str, object], secret: str) -> bool:
    sources = entries(volume, "projected", "sources")
    return any(text(one, "secret", "name") == secret for one in sources)


def _written(content: Object) -> str:
    """When an object was last written; all times of Kubernetes are of one form, and so compare."""
    times = [text(one, "time") for one in entries(content, "metadata", "managedFields")]
    return max([text(part(content, "metadata"), "creationTimestamp"), *times])
