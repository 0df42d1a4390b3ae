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
class TokenPlace:
    """Where a token stands in the cluster."""

    namespace: str
    secret: str
    key: str
    token: str
    """`user@realm!name`, which the Secret should have."""


@record
class TokenDelivered(TokenPlace, Gate):
    """The Secret of a component names a token, and its pods began after that.

    Programs read their configuration when they start.
    """

    kind: ClassVar[str] = "access.delivered"

    @property
    def summary(self) -> str:
        return f"pods in {self.namespace} with Secret {self.secret} use token {self.token}"

    async def check(self, ports: Ports) -> Verdict:
        found = await has_token(ports, self)
        if found is None:
            return Verdict(answer=Answer.GO, because="there is no such Secret: nobody reads it")
        if not found:
            why = f"Secret {self.secret} has another token; push what was rendered"
            return Verdict(answer=Answer.WAIT, because=why)
        pods = await readers(ports, self.namespace, self.secret)
        seen = f"{len(pods.all) - len(pods.older)} of {len(pods.all)} pods began after Secret"
        if pods.older:
            why = f"{seen} {self.secret} was written at {pods.written}"
            return Verdict(answer=Answer.WAIT, because=why)
        return Verdict(answer=Answer.GO, because=f"{seen} {self.secret} was written")


@record
class Readers:
    """Pods that read a Secret."""

    all: tuple[Object, ...]
    older: tuple[Object, ...]
    """Those that began before it was written."""
    written: str


async def has_token(ports: Ports, place: TokenPlace) -> bool | None:
    """Whether a Secret names a token. None: there is no such Secret."""
    ref = Ref(kind=SECRETS, name=place.secret, namespace=place.namespace)
    try:
        found = await ports.to_kubernetes().get(ref)
    except NotFound:
        return None
    return place.token in _decoded(found, place.key)


async def readers(ports: Ports, namespace: str, secret: str) -> Readers:
    """Pods that read a Secret; none where there is no such Secret."""
    kubernetes = ports.to_kubernetes()
    try:
        found = await kubernetes.get(Ref(kind=SECRETS, name=secret, namespace=namespace))
    except NotFound:
        return Readers(all=(), older=(), written="")
    pods = (await kubernetes.objects(PODS, Selection(namespace=namespace))).items
    mine = tuple(one for one in pods if mounts(one, secret))
    written = _written(found)
    older = tuple(one for one in mine if text(one, "status", "startTime") < written)
    return Readers(all=mine, older=older, written=written)


def _decoded(content: Object, key: str) -> str:
    try:
        return base64.b64decode(text(content, "data", key)).decode(errors="replace")
    except binascii.Error:
        return ""


def mounts(pod: Object, secret: str) -> bool:
    """Whether a pod that is not over reads a Secret."""
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
