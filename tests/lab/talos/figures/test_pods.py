"""Pods of machines."""

from __future__ import annotations

from stockman.lab.talos.figures.pods import pod_of, pods
from stockman.lab.talos.services.running import stop
from tests.lab.talos.staged import machine, staged


def test_there_are_none_without_a_kubelet() -> None:
    world = staged()
    node = machine(world)
    assert {one.container for one in pods(node)} >= {"kube-apiserver", "kube-scheduler"}
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
