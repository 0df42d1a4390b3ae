"""What goes wrong in a world, what others do in it, and how that is over again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.host_power import give_power, lose_power
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.servers.memory import MemoryClient

from stockman.kubernetes.objects import NODES, JsonPatch, ObjectRef
from tests.acceptance.process import Call
from tests.acceptance.scene import Scene


@dataclass(frozen=True)
class Meddling:
    """Something that somebody else does once, at a moment of a run."""

    when: str
    """`before` or `after` and a part of a call."""
    act: Callable[[Scene], None]

    def watcher(self, scene: Scene, done: list[str]) -> Callable[[int, str, Call], None]:
        """Acts at its moment, and notes that it did."""
        side, _, part = self.when.partition(" ")

        def look(number: int, at: str, call: Call) -> None:
            if not done and at == side and part in str(call):
                done.append(f"{number} {call}")
                self.act(scene)

        return look


def fault(point: Point, effect: Effect, **more: object) -> Callable[[Scene], None]:
    """Lets something go wrong in the world; what is matched is given as `match`."""

    def arrange(scene: Scene) -> None:
        scene.world.faults.add(Fault(point=point, effect=effect, **more))  # type: ignore[arg-type]  # by name
        scene.world.strike()

    return arrange


def root_does(method: str, path: str, **params: object) -> Callable[[Scene], None]:
    """Somebody else does something in Proxmox VE."""

    def arrange(scene: Scene) -> None:
        MemoryClient(scene.world, "k8s").call(method, path, **params)
        scene.world.settle()

    return arrange


def taken_back(scene: Scene) -> None:
    """The faults are over."""
    for one in list(scene.world.faults.listed):
        scene.world.take_back(one.number)
    scene.world.advance(120.0)


def storage_is_full(scene: Scene) -> None:
    pool = scene.world.clusters["k8s"].state.pools
    for one in pool.values():
        one.other = one.size


def storage_has_room(scene: Scene) -> None:
    for pool in scene.world.clusters["k8s"].state.pools.values():
        pool.other = 0


def host_dies(name: str) -> Callable[[Scene], None]:
    def arrange(scene: Scene) -> None:
        cluster = scene.world.clusters["k8s"]
        lose_power(cluster, cluster.state.hosts[name])

    return arrange


def host_returns(name: str) -> Callable[[Scene], None]:
    def relieve(scene: Scene) -> None:
        cluster = scene.world.clusters["k8s"]
        give_power(cluster, cluster.state.hosts[name])
        scene.world.advance(900.0)

    return relieve


def torn_journal(scene: Scene) -> None:
    run = max(scene.kept.journals)
    scene.kept.journals[run] += b'[{"number":99,"at":"20'


def switch_off(scene: Scene) -> None:
    """Somebody switches a VM off that hangs."""
    taken_back(scene)
    MemoryClient(scene.world, "k8s").post("/nodes/neo/qemu/1033/status/stop")
    scene.world.advance(120.0)


def shared_address_moves(scene: Scene) -> None:
    """Whoever has the address of the API is cut off for a minute, once the run is under way."""
    holder = next(
        one
        for one in scene.world.talos.on()
        if any(address.is_vip for address in one.state.network.addresses)
    )
    begin = scene.world.now + 20.0
    match = {"machine": holder.hostname}
    fault(Point.NETWORK, Effect.FAIL, match=match, since=begin, until=begin + 60.0, times=None)(
        scene
    )


def wrong_image(scene: Scene) -> None:
    """The image is gone from its storage, and the factory delivers that of an older version."""
    _remove_image(scene)
    match = {"path": "/image/*"}
    fault(Point.FACTORY, Effect.LIE, match=match, message="v1.13.7", times=None)(scene)


def made_anew(scene: Scene) -> None:
    """Somebody deletes a VM that has the wrong image, and the image."""
    taken_back(scene)
    proxmox = MemoryClient(scene.world, "k8s")
    proxmox.delete("/cluster/ha/resources/vm:1033")
    proxmox.post("/nodes/neo/qemu/1033/status/stop")
    scene.world.settle()
    proxmox.delete("/nodes/neo/qemu/1033")
    scene.world.settle()
    _remove_image(scene)


def _remove_image(scene: Scene) -> None:
    volumes = scene.world.clusters["k8s"].state.volumes
    name = next(str(volume) for volume in volumes if "nocloud" in str(volume))
    MemoryClient(scene.world, "k8s").delete(f"/nodes/trinity/storage/cephfs/content/{name}")
    scene.world.settle()


def uncordon(scene: Scene) -> None:
    """Something that follows Git puts back what it knows of a node."""
    cluster = scene.world.kubernetes.cluster_of(next(iter(scene.world.talos.machines)))
    assert cluster is not None
    change = {"op": "remove", "path": "/spec/unschedulable"}
    patch = memory_kubernetes(cluster.api).patch(
        ObjectRef(kind=NODES, name="talos-tank"), JsonPatch(operations=(change,))
    )
    with suppress(StopIteration):
        patch.send(None)  # in memory nothing has to be waited for


def strikes(scene: Scene) -> dict[int, int]:
    """How often each fault of the world was felt so far, by its number."""
    return {one.number: one.struck + one.felt for one in scene.world.faults.listed}
