"""Components that take up a new token: the Secret is there, and pods that read the old one go."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import PODS, Ref
from stockman.ports.kubernetes.objects import Deletion, Object
from stockman.steps.access_delivered import Readers, TokenPlace, has_token, readers
from stockman.steps.base import Action, Answer, Gate, Verdict
from stockman.steps.kube_reading import condition, name_of, uid_of
from stockman.steps.ports import Ports

_PAUSE = 5.0


@record
class SecretDelivered(TokenPlace, Gate):
    """The Secret of a component names a token: Flux has applied what was pushed."""

    kind: ClassVar[str] = "access.in-cluster"

    @property
    def summary(self) -> str:
        return f"Secret {self.namespace}/{self.secret} has token {self.token}"

    async def check(self, ports: Ports) -> Verdict:
        found = await has_token(ports, self)
        if found is None:
            return Verdict(answer=Answer.GO, because="there is no such Secret: nobody reads it")
        if found:
            return Verdict(answer=Answer.GO, because="Flux has applied it")
        why = "it has another token; Flux has not applied yet what was pushed"
        return Verdict(answer=Answer.WAIT, because=why)


@record
class RestartReaders(TokenPlace, Action):
    """Have every pod that reads a Secret begin after it was written, one pod after the other.

    Programs read their configuration when they start. Reloader restarts them where it is on, so
    they are given some time to do it on their own.
    """

    kind: ClassVar[str] = "access.restart-readers"
    alone: float
    """Seconds in which they may begin anew by themselves."""
    seconds: float = 300.0
    """How long one that was deleted may take to come back."""

    @property
    def summary(self) -> str:
        return f"restart pods in {self.namespace} that began before Secret {self.secret}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"readers/{self.namespace}/{self.secret}",)

    async def done(self, ports: Ports) -> bool:
        if await has_token(ports, self) is False:
            return False
        return not (await self._seen(ports)).older

    async def run(self, ports: Ports) -> None:
        clock = ports.clock
        end = clock.now().timestamp() + self.alone
        while (await self._seen(ports)).older and clock.now().timestamp() < end:
            await clock.sleep(_PAUSE)
        while older := (await self._seen(ports)).older:
            await self._restarted(ports, older[0])

    async def _restarted(self, ports: Ports, pod: Object) -> None:
        before = len(_ready((await self._seen(ports)).all))
        ref = Ref(kind=PODS, name=name_of(pod), namespace=self.namespace)
        try:
            await ports.to_kubernetes().delete(ref, Deletion(uid=uid_of(pod)))
        except (NotFound, Conflict):
            return
        end = ports.clock.now().timestamp() + self.seconds
        while True:
            seen = (await self._seen(ports)).all
            is_gone = all(uid_of(one) != uid_of(pod) for one in seen)
            if is_gone and len(_ready(seen)) >= before:
                return
            if ports.clock.now().timestamp() >= end:
                raise Refused(not_restarted(ref, self.seconds, len(_ready(seen)), before))
            await ports.clock.sleep(_PAUSE)

    async def _seen(self, ports: Ports) -> Readers:
        return await readers(ports, self.namespace, self.secret)


def _ready(pods: tuple[Object, ...]) -> list[Object]:
    return [one for one in pods if condition(one, "Ready").holds]


def not_restarted(ref: Ref, seconds: float, ready: int, before: int) -> Problem:
    return Problem(
        code="kube.not-restarted",
        what=f"no pod came in the place of {ref.shown}",
        where=ref.shown,
        why=f"{before} were ready before it was deleted, and {ready} are after {seconds:.0f} s; it"
        " was to begin anew with a new token of Proxmox VE, and the old token still works",
        fix=f"look why: `kubectl describe pods -n {ref.namespace}`; then go on with"
        " `stockman runs resume`",
    )
