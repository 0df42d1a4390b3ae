"""Requests to API servers, with the faults that strike them: for the wire, and for who has none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.access.front import Front, Trusted
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.admission_context import Settings
from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.clusters.clusters import settings_of
from stockman_lab.kube.failures import About, Failure, expired, internal
from stockman_lab.kube.store.entries import compact_json
from stockman_lab.kube.store.store import StaleStore
from stockman_lab.talos import etcd_member

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import Kubernetes, KubernetesCluster
    from stockman_lab.kube.store.store import Store
    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine


class NoCluster(Exception):
    """A machine that has no Kubernetes."""


class KubeClusters:
    """Makes servers when they are first asked for; all of a cluster have one store."""

    def __init__(self, land: Fleet, kubernetes: Callable[[], Kubernetes]) -> None:
        self._land = land
        self._kubernetes = kubernetes
        self._served: dict[tuple[str, Settings, str], Front] = {}
        self._recalled: dict[tuple[int, str], int] = {}

    def cluster(self, machine: Machine) -> KubernetesCluster:
        """The cluster of a control plane machine; raises `NoCluster`."""
        etcd = etcd_member.cluster_of(machine)
        cluster = None if etcd is None else self._kubernetes().cluster(etcd.id)
        if cluster is None:
            raise NoCluster(machine.hostname)
        return cluster

    def front(self, machine: Machine) -> Front:
        """The server that answers on a machine; raises `NoCluster`."""
        cluster, config = self.cluster(machine), machine.config
        if config is None:
            raise NoCluster(machine.hostname)
        settings = settings_of(config)
        ids = cluster.cluster.id, settings, config.service_account_key
        known = self._served.get(ids)
        if known is None or known.api.store is not cluster.api.store:
            known = self._served[ids] = self._made(cluster, config, cluster.api.store)
        return known

    def stale(self, machine: Machine, number: int) -> Front:
        """The same as it was when the fault with a number was first met; raises `NoCluster`."""
        cluster, config = self.cluster(machine), machine.config
        if config is None:
            raise NoCluster(machine.hostname)
        rows = number, cluster.cluster.id
        revision = self._recalled.setdefault(rows, cluster.api.store.revision(cached=True))
        return self._made(cluster, config, StaleStore(cluster.connect, revision))

    def ring(self) -> None:
        """Wake those who watch: something may have been written, or it has become later."""
        for store in {id(one.api.store): one.api.store for one in self._served.values()}.values():
            store.bell.ring()

    def _made(self, cluster: KubernetesCluster, config: Effective, store: Store) -> Front:
        api = Api(store.connect, self._land.around.dice, settings_of(config), store=store)
        api.subresources |= cluster.api.subresources
        return Front(api, Trusted(config.service_account_key, config.endpoint))


_BROKEN, _GONE, _TOO_MANY = 500, 410, 429
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_ETCD = "etcdserver: "
"""What texts of etcd begin with, which servers pass on without a reason of their own."""
_INTERNAL = "Internal error occurred: "
_WEBHOOK = "failed calling webhook"
_OVERLOADED = "Too many requests, please try again later."
_OLD = "The resourceVersion for the provided {} is too old."


def troubled(attributes: Attributes, fault: Fault) -> Response:
    """What a server answers that a fault struck."""
    status = fault.status or _BROKEN
    if status == _TOO_MANY and not fault.message:
        return _overload_response(fault)
    if status == _GONE and attributes.verb == "watch":
        return _forgotten(fault)
    return answers.refused(_failure(status, attributes, fault))


def _overload_response(fault: Fault) -> Response:
    """As a server says before it has even looked at a request."""
    plain = answers.plain(f"{_OVERLOADED}\n", _TOO_MANY)
    plain.headers["Retry-After"] = str(int(fault.seconds) or 1)
    return plain


def _forgotten(fault: Fault) -> Response:
    """A watch that begins, and ends with the word that it cannot go on from there."""
    failure = expired(fault.message or _OLD.format("watch"))
    line = b'{"type":"ERROR","object":%s}\n' % compact_json(failure.status)

    async def lines() -> AsyncIterator[bytes]:
        yield line

    headers = {"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
    return Response(200, headers, stream=lines())


def _failure(status: int, attributes: Attributes, fault: Fault) -> Failure:
    text = fault.message.removeprefix(_INTERNAL)
    if status == _GONE and not text:
        return expired(_OLD.format(attributes.verb))
    if status == _BROKEN and (text != fault.message or text.startswith(_WEBHOOK)):
        return internal(text)
    text = text or f"{_ETCD}request timed out"
    reason = "" if text.startswith(_ETCD) else _REASONS.get(status, "")
    about = About(retry_after=int(fault.seconds)) if fault.seconds >= 1 else None
    return Failure(status, reason, text, about)


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
