"""Services wait for their images."""

from __future__ import annotations

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.etcd_member import bootstrap
from stockman_lab.talos.pulling import believable_size
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, stage_of, staged


def switched_on(world: World) -> None:
    for name, cluster in world.clusters.items():
        for vmid, guest in cluster.state.guests.items():
            MemoryClient(world, name).post(f"/nodes/{guest.node}/qemu/{vmid}/status/start")
    world.settle()


def test_a_kubelet_without_its_image_waits_until_the_registry_is_back() -> None:
    world = staged("single", bootstrap=False)
    fault = world.faults.add(Fault(Point.REGISTRY, Effect.KILL, times=None))
    switched_on(world)
    result = machine(world)
    kubelet = result.state.services["kubelet"]
    assert kubelet.state == "Preparing"
    assert "connection refused" in kubelet.events[-1].message
    assert len([event for event in kubelet.events if "refused" in event.message]) == 1
    world.faults.remove(fault.number)
    world.talos.look_around()
    world.settle()
    assert result.state.services["kubelet"].state == "Running"
    bootstrap(result)
    world.settle()
    assert stage_of(result) is Stage.RUNNING


def test_images_outlast_a_reboot_and_are_not_fetched_again() -> None:
    world = staged("single")
    result = machine(world)
    names = set(result.state.images["system"]) | set(result.state.images["k8s.io"])
    assert {name.rpartition("/")[2].partition(":")[0] for name in names} == {
        "etcd",
        "kubelet",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "cilium",
        "cilium-envoy",
        "operator-generic",
    }
    world.faults.add(Fault(Point.REGISTRY, Effect.KILL, times=None))
    Asking(world, result).call("Reboot")
    world.settle()
    assert stage_of(result) is Stage.RUNNING


def test_sizes_are_those_of_real_images() -> None:
    kubelet = believable_size("ghcr.io/siderolabs/kubelet:v1.36.3")
    assert 100_000_000 < kubelet < 130_000_000
    assert believable_size("ghcr.io/siderolabs/kubelet:v1.36.3") == kubelet
    assert believable_size("registry.k8s.io/pause:3.10") < 2_000_000
