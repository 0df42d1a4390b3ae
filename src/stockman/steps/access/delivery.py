"""Checks that components in the cluster use their new tokens."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import ClassVar

from stockman.kubernetes.objects import PODS, SECRETS, DeleteOptions, Object, ObjectRef, Selection
from stockman.model.errors import Conflict, NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.kubernetes.objects import (
    mapping_at,
    mappings_at,
    object_name,
    object_uid,
    read_condition,
    text_at,
)
from stockman.steps.ports import Ports

_FINISHED_PHASES = ("Succeeded", "Failed")


@record
class TokenLocation:
    """The location of a token in the cluster."""

    namespace: str
    secret: str
    key: str
    token: str
    """`user@realm!name`, the expected token."""


@record
class TokenDelivered(TokenLocation, Gate):
    """The Secret of a component contains a token, and its pods started after that.

    Programs read their configuration when they start.
    """

    kind: ClassVar[str] = "access.delivered"

    @property
    def summary(self) -> str:
        return f"pods in {self.namespace} with Secret {self.secret} use token {self.token}"

    async def check(self, ports: Ports) -> Verdict:
        has_token = await secret_contains_token(ports, self)
        if has_token is None:
            return Verdict(answer=GateAnswer.GO, because="there is no such Secret: nobody reads it")
        if not has_token:
            why = f"Secret {self.secret} has another token; push what was rendered"
            return Verdict(answer=GateAnswer.WAIT, because=why)
        pods = await find_secret_readers(ports, self.namespace, self.secret)
        seen = f"{len(pods.all) - len(pods.older)} of {len(pods.all)} pods began after Secret"
        if pods.older:
            why = f"{seen} {self.secret} was written at {pods.written}"
            return Verdict(answer=GateAnswer.WAIT, because=why)
        return Verdict(answer=GateAnswer.GO, because=f"{seen} {self.secret} was written")


@record
class SecretReaders:
    """Pods that read a Secret."""

    all: tuple[Object, ...]
    older: tuple[Object, ...]
    """Those that started before it was written."""
    written: str


async def secret_contains_token(ports: Ports, location: TokenLocation) -> bool | None:
    """Return whether a Secret contains a token. None: there is no such Secret."""
    ref = ObjectRef(kind=SECRETS, name=location.secret, namespace=location.namespace)
    try:
        secret = await ports.to_kubernetes().get(ref)
    except NotFound:
        return None
    return location.token in _decode(secret, location.key)


async def find_secret_readers(ports: Ports, namespace: str, secret: str) -> SecretReaders:
    """Return the pods that read a Secret; none if there is no such Secret."""
    kubernetes = ports.to_kubernetes()
    try:
        content = await kubernetes.get(ObjectRef(kind=SECRETS, name=secret, namespace=namespace))
    except NotFound:
        return SecretReaders(all=(), older=(), written="")
    pods = (await kubernetes.objects(PODS, Selection(namespace=namespace))).items
    readers = tuple(pod for pod in pods if reads_secret(pod, secret))
    written = _last_write(content)
    older = tuple(pod for pod in readers if text_at(pod, "status", "startTime") < written)
    return SecretReaders(all=readers, older=older, written=written)


def _decode(content: Object, key: str) -> str:
    try:
        return base64.b64decode(text_at(content, "data", key)).decode(errors="replace")
    except binascii.Error:
        return ""


def reads_secret(pod: Object, secret: str) -> bool:
    """Return whether an unfinished pod reads a Secret."""
    if text_at(pod, "status", "phase") in _FINISHED_PHASES:
        return False
    return any(
        text_at(volume, "secret", "secretName") == secret or _projects(volume, secret)
        for volume in mappings_at(pod, "spec", "volumes")
    )


def _projects(volume: Mapping[str, object], secret: str) -> bool:
    sources = mappings_at(volume, "projected", "sources")
    return any(text_at(source, "secret", "name") == secret for source in sources)


def _last_write(content: Object) -> str:
    """Return the time of the last write; all times have one format and can be compared."""
    times = [text_at(entry, "time") for entry in mappings_at(content, "metadata", "managedFields")]
    return max([text_at(mapping_at(content, "metadata"), "creationTimestamp"), *times])


_PAUSE = 5.0


@record
class SecretDelivered(TokenLocation, Gate):
    """The Secret of a component contains a token: Flux has applied the pushed commit."""

    kind: ClassVar[str] = "access.in-cluster"

    @property
    def summary(self) -> str:
        return f"Secret {self.namespace}/{self.secret} has token {self.token}"

    async def check(self, ports: Ports) -> Verdict:
        has_token = await secret_contains_token(ports, self)
        if has_token is None:
            return Verdict(answer=GateAnswer.GO, because="there is no such Secret: nobody reads it")
        if has_token:
            return Verdict(answer=GateAnswer.GO, because="Flux has applied it")
        why = "it has another token; Flux has not applied yet what was pushed"
        return Verdict(answer=GateAnswer.WAIT, because=why)


@record
class RestartReaders(TokenLocation, Action):
    """Restart pods that read a Secret and started before it was written, one after the other.

    Programs read their configuration when they start. If Reloader is enabled it restarts them, so
    the action waits for some time first.
    """

    kind: ClassVar[str] = "access.restart-readers"
    alone: float
    """Seconds to wait for Reloader."""
    seconds: float = 300.0
    """Timeout for the replacement of a deleted pod."""

    @property
    def summary(self) -> str:
        return f"restart pods in {self.namespace} that began before Secret {self.secret}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"readers/{self.namespace}/{self.secret}",)

    async def done(self, ports: Ports) -> bool:
        if await secret_contains_token(ports, self) is False:
            return False
        return not (await self._find_readers(ports)).older

    async def run(self, ports: Ports) -> None:
        clock = ports.clock
        end = clock.now().timestamp() + self.alone
        while (await self._find_readers(ports)).older and clock.now().timestamp() < end:
            await clock.sleep(_PAUSE)
        while older := (await self._find_readers(ports)).older:
            await self._restart_pod(ports, older[0])

    async def _restart_pod(self, ports: Ports, pod: Object) -> None:
        before = len(_ready((await self._find_readers(ports)).all))
        ref = ObjectRef(kind=PODS, name=object_name(pod), namespace=self.namespace)
        try:
            await ports.to_kubernetes().delete(ref, DeleteOptions(uid=object_uid(pod)))
        except (NotFound, Conflict):
            return
        end = ports.clock.now().timestamp() + self.seconds
        while True:
            seen = (await self._find_readers(ports)).all
            is_gone = all(object_uid(reader) != object_uid(pod) for reader in seen)
            if is_gone and len(_ready(seen)) >= before:
                return
            if ports.clock.now().timestamp() >= end:
                raise Refused(restart_timeout(ref, self.seconds, len(_ready(seen)), before))
            await ports.clock.sleep(_PAUSE)

    async def _find_readers(self, ports: Ports) -> SecretReaders:
        """Return the pods that read the Secret, and those that started before it was written."""
        return await find_secret_readers(ports, self.namespace, self.secret)


def _ready(pods: tuple[Object, ...]) -> list[Object]:
    return [pod for pod in pods if read_condition(pod, "Ready").holds]


def restart_timeout(ref: ObjectRef, seconds: float, ready: int, before: int) -> Problem:
    return Problem(
        code="kube.not-restarted",
        what=f"no pod came in the place of {ref.shown}",
        where=ref.shown,
        why=f"{before} were ready before it was deleted, and {ready} are after {seconds:.0f} s; it"
        " was to begin anew with a new token of Proxmox VE, and the old token still works",
        fix=f"look why: `kubectl describe pods -n {ref.namespace}`; then go on with"
        " `stockman runs resume`",
    )


_NAMED = 3


@record
class TokenUnused(Gate):
    """The Secret with a token does not exist in the cluster, and no pod reads it."""

    kind: ClassVar[str] = "access.unused"
    component: str
    namespace: str
    """Where it stood last, as far as is known; pods of all namespaces are looked at."""
    secret: str

    @property
    def summary(self) -> str:
        return f"nothing in the cluster works with the token of {self.component}"

    async def check(self, ports: Ports) -> Verdict:
        kubernetes = ports.to_kubernetes()
        pods = (await kubernetes.objects(PODS, Selection())).items
        names = [text_at(pod, "metadata", "name") for pod in pods if reads_secret(pod, self.secret)]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            seen = f"Secret {self.secret} is read by {', '.join(names[:_NAMED])}{more}"
            return Verdict(answer=GateAnswer.WAIT, because=seen)
        try:
            await kubernetes.get(
                ObjectRef(kind=SECRETS, name=self.secret, namespace=self.namespace)
            )
        except NotFound:
            return Verdict(answer=GateAnswer.GO, because=f"there is no Secret {self.secret}")
        return Verdict(answer=GateAnswer.WAIT, because=f"Secret {self.secret} is still there")
