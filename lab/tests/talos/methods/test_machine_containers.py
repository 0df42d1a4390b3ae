"""Containers as the API lists them."""

from __future__ import annotations

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.services.running import stop
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


def test_services_of_the_system_are_containers_without_an_image(asking: Asking) -> None:
    containers = asking.call("Containers", namespace="system", driver="CONTAINERD").containers
    assert [container.id for container in containers] == ["apid", "ext-qemu-guest-agent", "trustd"]
    assert all(
        container.image == "" and container.status == "RUNNING" and container.pid
        for container in containers
    )


def test_their_processes_are_those_of_the_process_list(asking: Asking) -> None:
    known = {process.pid: process.args for process in asking.call("Processes").processes}
    for container in asking.call("Containers", namespace="system").containers:
        assert known[container.pid].endswith(f"/{container.id.removeprefix('ext-')}")
    for container in asking.call("Containers", namespace="k8s.io", driver="CRI").containers:
        assert container.pid in known


def test_static_pods_are_there_with_their_images(world: World, asking: Asking) -> None:
    containers = asking.call("Containers", namespace="k8s.io", driver="CRI").containers
    name = machine(world).hostname
    pods = [container for container in containers if container.id == container.pod_id]
    assert [pod.id for pod in pods if "kube-apiserver" in pod.id] == [
        f"kube-system/kube-apiserver-{name}"
    ]
    assert all(pod.status == "SANDBOX_READY" and pod.uid for pod in pods)
    config = machine(world).config
    assert config is not None
    (server,) = (container for container in containers if container.name == "kube-apiserver")
    assert server.image == config.kubernetes.api_server.image
    assert server.status == "CONTAINER_RUNNING"
    assert server.id == f"{server.pod_id}:kube-apiserver:{server.internal_id[:12]}"


def test_containerd_itself_calls_them_differently(asking: Asking) -> None:
    containers = asking.call("Containers", namespace="k8s.io", driver="CONTAINERD").containers
    (server,) = (container for container in containers if container.name == "kube-apiserver")
    assert server.id == f"{server.pod_id}:kube-apiserver"
    assert server.status == "RUNNING"


def test_containers_are_new_ones_after_a_reboot(world: World, asking: Asking) -> None:
    def identities() -> set[str]:
        reply = asking.call("Containers", namespace="k8s.io", driver="CRI")
        return {container.internal_id for container in reply.containers}

    before = identities()
    acting.reboot(machine(world), "default")
    world.settle()
    assert before
    assert not before & identities()


def test_containers_use_memory_and_sandboxes_do_not(world: World, asking: Asking) -> None:
    before = {one.id: one for one in asking.call("Stats", namespace="k8s.io", driver="CRI").stats}
    world.advance(60.0)
    for stat in asking.call("Stats", namespace="k8s.io", driver="CRI").stats:
        if stat.id == stat.pod_id:
            assert stat.memory_usage == stat.cpu_usage == 0
        else:
            assert stat.memory_usage > 1 << 20
            assert stat.cpu_usage > before[stat.id].cpu_usage


@pytest.mark.parametrize(
    ("namespace", "driver", "code", "message"),
    [
        ("", 0, GrpcCode.INVALID_ARGUMENT, "namespace can't be empty"),
        ("system", 1, GrpcCode.UNKNOWN, "CRI inspector is supported only for K8s namespace"),
        ("k8s.io", 7, GrpcCode.INVALID_ARGUMENT, 'unsupported driver "7"'),
    ],
)
def test_what_cannot_be_asked_is_refused(
    asking: Asking, namespace: str, driver: int, code: GrpcCode, message: str
) -> None:
    with pytest.raises(Refusal) as caught:
        asking.call("Containers", namespace=namespace, driver=driver)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_a_namespace_that_nobody_uses_is_empty(asking: Asking) -> None:
    assert not asking.call("Containers", namespace="nobody").containers


def test_nobody_answers_while_the_container_runtime_is_down(world: World, asking: Asking) -> None:
    stop(machine(world), "cri")
    with pytest.raises(Refusal, match=r"dial unix /run/containerd/containerd\.sock") as caught:
        asking.call("Containers", namespace="k8s.io", driver="CRI")
    assert caught.value.code is GrpcCode.UNAVAILABLE
