"""Backends that the contract of `ports.Kubernetes` is run on.

A door is a function that takes a story, and returns what the story comes to. Another door is one
more line in `DOORS`; the real API server is a door, too, for those who have its program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from stockman_lab.core.dice import Dice
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.kube.api.admission_context import Settings
from stockman_lab.kube.api.server import Api
from stockman_lab.servers.kube_port import ApiClock, memory_kubernetes

from stockman.adapters.kubernetes.credentials import KubernetesEndpoint
from stockman.adapters.kubernetes.transport import HttpKubernetes
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.kubeconfig import KubeconfigContext
from stockman.kubernetes.objects import NAMESPACES
from stockman.model.secret import Secret
from tests.contract.kubernetes.small_face import SmallFace

T = TypeVar("T")
NOW = 1_790_000_000.0


@dataclass
class Stage:
    """What a story is told about."""

    namespace: str
    """Its own, with nothing in it."""
    later: Callable[[float], None]
    """Lets our clock go on by so many seconds."""
    forget: Callable[[str], None]
    """Lets the store of the server forget all changes up to a version."""


Story = Callable[[KubernetesClient, Stage], Awaitable[T]]


class Backend(Protocol):
    """Tells a story to a server with an empty namespace."""

    def __call__(self, story: Story[T]) -> T: ...


class SimulatedCluster:
    """An API server of the lab on an etcd with one member, and a clock that stories move."""

    def __init__(self) -> None:
        member = EtcdMember("1", ["http://127.0.0.1:2380"], started=True, has_data=True)
        self._etcd = EtcdCluster("1", members={"1": member})
        self._now = NOW
        self.api = Api(self._client, Dice(7), Settings(demands_accounts=False))
        self.stage = Stage("story", self._later, self._forget)

    def _client(self) -> EtcdClient:
        return EtcdClient(self._etcd, ["1"], self._now)

    def _later(self, seconds: float) -> None:
        self._now += seconds

    def _forget(self, version: str) -> None:
        self._client().compact(int(version))

    async def play(self, story: Story[T], kubernetes: KubernetesClient) -> T:
        """What a story comes to in its namespace."""
        await kubernetes.create(NAMESPACES, {"metadata": {"name": self.stage.namespace}})
        return await story(kubernetes, self.stage)


def memory(story: Story[T]) -> T:
    """An API server of the lab, without a wire."""
    cluster = SimulatedCluster()
    return asyncio.run(cluster.play(story, memory_kubernetes(cluster.api)))


def wire(story: Story[T]) -> T:
    """`HttpKubernetes`, with an API server of the lab behind it that answers over TLS."""
    cluster = SimulatedCluster()
    server = SmallFace(cluster.api)

    async def play() -> T:
        async with server.serving():
            context = KubeconfigContext(
                server=server.url, ca=server.identity.ca.crt, token=Secret("any")
            )
            clock = ApiClock(cluster.api)
            async with HttpKubernetes(KubernetesEndpoint(context=context), clock) as kubernetes:
                return await cluster.play(story, kubernetes)

    return asyncio.run(play())


BACKENDS: dict[str, Backend] = {"memory": memory, "wire": wire}
