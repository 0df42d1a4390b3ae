"""Pods of machines."""

from __future__ import annotations

from typing import Any

from stockman_lab.talos import acting
from stockman_lab.talos.figures.containers import kubernetes_containers
from stockman_lab.talos.figures.pods import pod_of, pods
from stockman_lab.talos.services.running import stop
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine, staged


def test_there_are_none_without_a_kubelet() -> None:
    world = staged()
    node = machine(world)
    assert {pod.container for pod in pods(node)} >= {"kube-apiserver", "kube-scheduler"}
    stop(node, "kubelet")
    assert pods(node) == []


def test_identities_tell_pods_and_containers_apart() -> None:
    node = machine(staged())
    pod = next(one for one in pods(node) if one.container == "kube-apiserver")
    assert pod_of(node, pod.id) == (pod, False)
    assert pod_of(node, f"{pod.id}:kube-apiserver") == (pod, True)
    assert pod_of(node, pod.container_display) == (pod, True)
    assert pod_of(node, f"{pod.id}:kube-apiserver:zzz") is None
    assert pod_of(node, "kube-system/other") is None
    assert len(
        {one.pid for one in pods(node)} | {one.sandbox_pid for one in pods(node)}
    ) == 2 * len(pods(node))


def known(world: World) -> set[str]:
    """Pods of the first machine, as the API of its cluster tells."""
    node = machine(world)
    side = node.land.kubernetes
    assert side is not None
    found: Any = side.listed(node, "pods")
    return {
        f"{one['metadata']['namespace']}/{one['metadata']['name']}"
        for one in found
        if one["spec"].get("nodeName") == node.hostname
    }


def test_they_are_those_that_the_cluster_runs_on_the_machine() -> None:
    world = staged()
    found = pods(machine(world))
    assert {one.id for one in found} == known(world)
    assert any(one.container == "cilium-agent" and not one.is_static for one in found)
    assert {one.namespace for one in found if one.is_static} == {"kube-system"}


def test_every_pod_has_one_sandbox_and_all_of_its_containers() -> None:
    node = machine(staged())
    every = pods(node)
    for name in {one.id for one in every}:
        assert [one.is_first for one in every if one.id == name].count(True) == 1
    listed = kubernetes_containers(node, by_cri=True)
    assert len(listed) == len(every) + len({one.id for one in every})


def test_after_a_reboot_none_of_before_is_left() -> None:
    world = staged()
    node = machine(world)
    before = {pod.container_id for pod in pods(node)}
    acting.reboot(node, "default")
    world.settle()
    after = pods(node)
    assert {one.id for one in after} == known(world)
    assert all(one.since >= int(node.state.kernel_at) for one in after)
    static = {one.container_id for one in after if one.is_static}
    assert static
    assert not static & before
