"""Requests to API servers, with the faults that strike them: for the wire, and for who has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.failures import Failure
from stockman_lab.servers.kube_clusters import KubeClusters, NoCluster
from stockman_lab.servers.kube_troubles import troubled
from stockman_lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import Kubernetes
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine

_READS = frozenset({"get", "list"})
_UNTIL_GIVEN_UP = 60.0
"""Seconds after which a server gives up on a request that its etcd does not answer."""
_GIVEN_UP = 504
_ETCD_GIVES_UP = 7.0
"""Seconds after which an etcd without a leader says so."""


@dataclass(slots=True)
class Answer:
    """What becomes of a request."""

    response: Response | None = None
    """None: there is no reply."""
    seconds: float = 0.0
    """How long it takes."""
    is_cut: bool = False
    """Whether the connection breaks: without an answer at once, with a stream in its midst."""


class KubeCalls:
    """Answers requests at machines."""

    def __init__(self, land: Fleet, kubernetes: Callable[[], Kubernetes]) -> None:
        self._land = land
        self.clusters = KubeClusters(land, kubernetes)

    def answer(
        self, machine: Machine, request: Request, certificate: bytes | None = None
    ) -> Answer:
        """What becomes of a request; raises `NoCluster` where nobody answers."""
        front = self.clusters.front(machine)
        try:
            request, asked = front.admitted(request, certificate)
        except Failure as failure:
            return Answer(answers.refused(failure))
        fault = self._land.fault(Point.KUBERNETES, _facts(machine, request, asked))
        if fault is None:
            return self._done(machine, request, asked)
        return self._struck(machine, request, asked, fault)

    def _done(self, machine: Machine, request: Request, attributes: Attributes) -> Answer:
        self.clusters.cluster(machine).freshen(request)
        response = self.clusters.front(machine).api.handle(request)
        if response.stream is not None or etcd_member.has_quorum(machine):
            return Answer(response)
        if response.status == _GIVEN_UP:
            return Answer(response, _UNTIL_GIVEN_UP)
        return Answer(response, _ETCD_GIVES_UP if response.status >= 500 else 0.0)

    def _struck(
        self, machine: Machine, request: Request, attributes: Attributes, fault: Fault
    ) -> Answer:
        match fault.effect:
            case Effect.FAIL:
                return Answer(troubled(attributes, fault))
            case Effect.DO_THEN_FAIL:
                self._done(machine, request, attributes)
                return Answer(troubled(attributes, fault))
            case Effect.HANG:
                return Answer()
            case Effect.DO_THEN_CUT:
                self._done(machine, request, attributes)
                return Answer(is_cut=True)
            case Effect.CUT if attributes.verb != "watch":
                return Answer(is_cut=True)
            case Effect.LIE if attributes.verb in _READS and not attributes.path:
                front = self.clusters.stale(machine, fault.number)
                return Answer(front.api.handle(request))
        done = self._done(machine, request, attributes)
        if fault.effect is Effect.CUT:
            return replace(done, seconds=fault.seconds, is_cut=True)
        if fault.effect is Effect.DELAY:
            return replace(done, seconds=done.seconds + fault.seconds)
        return done


def _facts(machine: Machine, request: Request, attributes: Attributes) -> dict[str, object]:
    what = (
        f"{attributes.qualified}.{attributes.group}" if attributes.group else attributes.qualified
    )
    return machine.facts | {
        "method": request.method,
        "path": request.path,
        "resource": what,
        "namespace": attributes.namespace,
        "object": attributes.name,
        "verb": attributes.verb,
        "user": request.user.name,
    }


__all__ = ["Answer", "KubeCalls", "NoCluster"]
