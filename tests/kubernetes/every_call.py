"""One call of every method that `ports.Kubernetes` has, and a wire that only writes down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import Permission
from stockman.kubernetes.leases import Lease, LeaseRequest
from stockman.kubernetes.objects import (
    DEPLOYMENTS,
    MergePatch,
    ObjectRef,
    Selection,
    ServerSideApply,
)
from stockman.kubernetes.pods import PodLogRequest
from stockman.kubernetes.server import TokenRequest
from stockman.kubernetes.transport import Reply, Request
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem

PLACE, NAME = "NAMESPACE", "NAME"
REF = ObjectRef(kind=DEPLOYMENTS, name=NAME, namespace=PLACE)
CONTENT = {"metadata": {"name": NAME, "namespace": PLACE}}
LEASE = Lease(
    namespace=PLACE,
    name=NAME,
    holder="one",
    seconds=15,
    renewed=None,
    acquired=None,
    transitions=0,
    version="7",
)


class Heard(StockmanError):
    """A call was written down; there is no reply."""


class Notebook:
    """Writes down what is asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def call(self, request: Request) -> Reply:
        raise self._heard(request)

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        for trouble in [self._heard(request)]:
            raise trouble
        yield b""

    def _heard(self, request: Request) -> Heard:
        self.asked.append(request)
        return Heard(Problem(code="test.heard", what="heard", why="it is a test", fix="none"))


EVERY: dict[str, Callable[[KubernetesClient], object]] = {
    "get": lambda kubernetes: kubernetes.get(REF),
    "objects": lambda kubernetes: kubernetes.objects(DEPLOYMENTS, Selection(namespace=PLACE)),
    "create": lambda kubernetes: kubernetes.create(DEPLOYMENTS, CONTENT),
    "apply": lambda kubernetes: kubernetes.apply(DEPLOYMENTS, ServerSideApply(content=CONTENT)),
    "replace": lambda kubernetes: kubernetes.replace(DEPLOYMENTS, CONTENT),
    "patch": lambda kubernetes: kubernetes.patch(REF, MergePatch(changes={})),
    "delete": lambda kubernetes: kubernetes.delete(REF),
    "watch": lambda kubernetes: kubernetes.watch(DEPLOYMENTS, Selection(namespace=PLACE)),
    "node": lambda kubernetes: kubernetes.node(NAME),
    "nodes": lambda kubernetes: kubernetes.nodes(),
    "pod": lambda kubernetes: kubernetes.pod(PLACE, NAME),
    "pods": lambda kubernetes: kubernetes.pods(),
    "evict": lambda kubernetes: kubernetes.evict(PLACE, NAME),
    "log": lambda kubernetes: kubernetes.log(PodLogRequest(namespace=PLACE, pod=NAME)),
    "lease": lambda kubernetes: kubernetes.lease(PLACE, NAME),
    "acquire_lease": lambda kubernetes: kubernetes.acquire_lease(
        LeaseRequest(namespace=PLACE, name=NAME, holder="one")
    ),
    "renew_lease": lambda kubernetes: kubernetes.renew_lease(LEASE),
    "release_lease": lambda kubernetes: kubernetes.release_lease(LEASE),
    "server_version": lambda kubernetes: kubernetes.server_version(),
    "readiness": lambda kubernetes: kubernetes.readiness(),
    "find_kind": lambda kubernetes: kubernetes.find_kind("apps/v1", "Deployment"),
    "serves": lambda kubernetes: kubernetes.serves(DEPLOYMENTS),
    "may": lambda kubernetes: kubernetes.may(Permission(verb="get", resource="pods")),
    "token": lambda kubernetes: kubernetes.token(TokenRequest(namespace=PLACE, account=NAME)),
}
