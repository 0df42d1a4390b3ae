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
    "get": lambda one: one.get(REF),
    "objects": lambda one: one.objects(DEPLOYMENTS, Selection(namespace=PLACE)),
    "create": lambda one: one.create(DEPLOYMENTS, CONTENT),
    "apply": lambda one: one.apply(DEPLOYMENTS, ServerSideApply(content=CONTENT)),
    "replace": lambda one: one.replace(DEPLOYMENTS, CONTENT),
    "patch": lambda one: one.patch(REF, MergePatch(changes={})),
    "delete": lambda one: one.delete(REF),
    "watch": lambda one: one.watch(DEPLOYMENTS, Selection(namespace=PLACE)),
    "scale": lambda one: one.scale(REF),
    "set_scale": lambda one: one.set_scale(REF, 3),
    "node": lambda one: one.node(NAME),
    "nodes": lambda one: one.nodes(),
    "pod": lambda one: one.pod(PLACE, NAME),
    "pods": lambda one: one.pods(),
    "evict": lambda one: one.evict(PLACE, NAME),
    "log": lambda one: one.log(PodLogRequest(namespace=PLACE, pod=NAME)),
    "lease": lambda one: one.lease(PLACE, NAME),
    "acquire_lease": lambda one: one.acquire_lease(
        LeaseRequest(namespace=PLACE, name=NAME, holder="one")
    ),
    "renew_lease": lambda one: one.renew_lease(LEASE),
    "release_lease": lambda one: one.release_lease(LEASE),
    "server_version": lambda one: one.server_version(),
    "readiness": lambda one: one.readiness(),
    "find_kind": lambda one: one.find_kind("apps/v1", "Deployment"),
    "serves": lambda one: one.serves(DEPLOYMENTS),
    "may": lambda one: one.may(Permission(verb="get", resource="pods")),
    "token": lambda one: one.token(TokenRequest(namespace=PLACE, account=NAME)),
}
