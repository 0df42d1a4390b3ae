"""Labs with a Kubernetes cluster, as tests see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.transport import Reply, Request
from stockman_lab.kube.api.server import Api
from stockman_lab.objects.state import Bucket
from stockman_lab.servers.kube_port import ApiClock, ApiWire
from stockman_lab.testing.steering import SteeredLab
from stockman_lab.testing.storage import S3Lab
from stockman_lab.testing.thread import LabThread, ProxmoxLab, TalosLab

T = TypeVar("T")


class FarWire:
    """Carries calls to the thread of a lab, where nothing else happens meanwhile."""

    def __init__(
        self, api: Api, loop: asyncio.AbstractEventLoop, after: Callable[[], None]
    ) -> None:
        self._wire = ApiWire(api)
        self._loop = loop
        self._after = after

    async def call(self, request: Request) -> Reply:
        return await self._there(self._wire.call(request))

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        pieces = self._wire.stream(request)

        async def following() -> bytes | None:
            return await anext(pieces, None)

        try:
            while (piece := await self._there(following())) is not None:
                yield piece
        finally:
            await self._there(pieces.aclose())

    async def _there(self, work: Coroutine[object, object, T]) -> T:
        async def done() -> T:
            done = await work
            self._after()
            return done

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(done(), self._loop))


def far_kubernetes(
    api: Api, loop: asyncio.AbstractEventLoop, after: Callable[[], None]
) -> KubernetesClient:
    """The port of an administrator."""
    return KubernetesClient(FarWire(api, loop, after), ApiClock(api))


@dataclass(slots=True, kw_only=True)
class KubernetesLab(SteeredLab):
    """A running lab with a Kubernetes cluster: where it answers, who may ask, how to steer it."""

    kubeconfig: Path
    """For `kubectl --kubeconfig`, with all rights of an administrator."""
    server: str
    """Where the API answers: `https://127.x.y.z:PORT`."""
    port: KubernetesClient
    """`ports.Kubernetes` of an administrator, without a wire."""
    talos: TalosLab
    """The machines that are its nodes, with the Proxmox VE below."""

    @property
    def kubeconfig_text(self) -> str:
        """What the file says."""
        return self.kubeconfig.read_text("utf-8")


@dataclass(slots=True, kw_only=True)
class ClusterLab(SteeredLab):
    """A running lab with everything: a cluster with Flux, and all that clusters ask for."""

    proxmox: ProxmoxLab
    talos: TalosLab
    kubernetes: KubernetesLab
    storage: S3Lab
    """Object storage, with one empty bucket."""
    registry: str
    """URL of Image Factory and registry."""
    git: str
    """URL below which repositories are, by host and path of their own. Empty: there are none."""


def kubernetes_of(lab: LabThread, talos: TalosLab) -> KubernetesLab:
    """The Kubernetes of the first machine of a lab that was started."""
    serving, world = lab.serving, lab.world
    first = next(machine for machine in world.talos.on() if machine.is_controlplane)
    cluster = lab.run(lambda: world.kubernetes.cluster_of(first))
    if cluster is None:
        raise RuntimeError("the lab has no cluster")
    kubeconfig = lab.scratch / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(lab.kubeconfig(), "utf-8")
    return KubernetesLab(
        kubeconfig=kubeconfig,
        server=_url("https", lab.run(lambda: serving.machines.kube_place(first))),
        port=far_kubernetes(cluster.api, lab.loop, lab.go_on),
        talos=talos,
        world=world,
        run=lab.run,
        jump=serving.pace.jump,
    )


def whole_of(lab: LabThread, bucket: str) -> ClusterLab:
    """Everything of a lab that was not started yet."""
    proxmox = lab.start()
    talos = lab.talos(proxmox)
    serving, world = lab.serving, lab.world
    objects = world.state.objects
    key = lab.run(serving.services.objects_key)
    lab.run(lambda: objects.buckets.setdefault(bucket, Bucket(world.now)))
    storage = S3Lab(
        endpoint=_url("http", serving.services.objects_place),
        access_key=key.id,
        secret_key=key.secret,
        region=objects.region,
        bucket=bucket,
        world=world,
        run=lab.run,
    )
    return ClusterLab(
        proxmox=proxmox,
        talos=talos,
        kubernetes=kubernetes_of(lab, talos),
        storage=storage,
        registry=talos.factory,
        git=_url("http", serving.services.git_place),
        world=world,
        run=lab.run,
        jump=serving.pace.jump,
    )


def _url(scheme: str, endpoint: tuple[str, int] | None) -> str:
    return "" if endpoint is None else f"{scheme}://{endpoint[0]}:{endpoint[1]}"
