"""Whether a component in the cluster has let go of its token."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import PODS, SECRETS, Ref
from stockman.ports.kubernetes.objects import Selection
from stockman.steps.access_delivered import mounts
from stockman.steps.base import Answer, Gate, Verdict
from stockman.steps.kube_reading import text
from stockman.steps.ports import Ports

_NAMED = 3


@record
class TokenUnused(Gate):
    """The Secret with a token is gone from the cluster, and no pod reads it."""

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
        names = [text(one, "metadata", "name") for one in pods if mounts(one, self.secret)]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            seen = f"Secret {self.secret} is read by {', '.join(names[:_NAMED])}{more}"
            return Verdict(answer=Answer.WAIT, because=seen)
        try:
            await kubernetes.get(Ref(kind=SECRETS, name=self.secret, namespace=self.namespace))
        except NotFound:
            return Verdict(answer=Answer.GO, because=f"there is no Secret {self.secret}")
        return Verdict(answer=Answer.WAIT, because=f"Secret {self.secret} is still there")
