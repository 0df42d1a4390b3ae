"""What holds for nodes, pods, evictions, leases and logs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.leases import LeaseRequest
from stockman.kubernetes.nodes import Taint
from stockman.kubernetes.objects import (
    LEASES,
    NODES,
    PODS,
    Evicted,
    EvictionBlocked,
    EvictionOptions,
    MergePatch,
    ObjectRef,
    Selection,
)
from stockman.kubernetes.pods import PodLogRequest
from stockman.model.errors import Locked, NotFound, Rejected
from tests.contract.kubernetes.doors import Stage
from tests.contract.kubernetes.stories.made import budget, metadata, pod, running_pod


async def a_node_tells_how_it_is(kubernetes: KubernetesClient, stage: Stage) -> None:
    name = f"{stage.namespace}-node"
    taint = {"key": "shorn", "effect": "NoSchedule", "value": "yes"}
    spec = {"unschedulable": True, "taints": [taint], "providerID": "proxmox://meadow/100"}
    await kubernetes.create(NODES, {"metadata": {"name": name}, "spec": spec})
    before = await kubernetes.node(name)
    assert (before.is_ready, before.unschedulable) == (False, True)
    assert Taint(key="shorn", effect="NoSchedule", value="yes") in before.taints
    info = {
        "kubeletVersion": "v1.36.3",
        "osImage": "Talos (v1.14.1)",
        "bootID": "boot",
        "machineID": "machine",
        "architecture": "amd64",
        "containerRuntimeVersion": "containerd://2",
        "kernelVersion": "6",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "systemUUID": "u",
    }
    status = {
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "addresses": [{"type": "InternalIP", "address": "10.42.0.11"}],
        "nodeInfo": info,
        "allocatable": {"cpu": "4"},
    }
    ref = ObjectRef(kind=NODES, name=name)
    await kubernetes.patch(ref, MergePatch(changes={"status": status}, subresource="status"))
    node = await kubernetes.node(name)
    assert node.is_ready
    assert node.internal_addresses == ("10.42.0.11",)
    assert (node.kubelet, node.operating_system) == ("v1.36.3", "Talos (v1.14.1)")
    assert (node.boot_id, node.machine_id) == ("boot", "machine")
    assert node.provider_id == "proxmox://meadow/100"
    assert node.allocatable == {"cpu": "4"}
    assert node in await kubernetes.nodes()
    assert await kubernetes.nodes(Selection(labels="no=such")) == ()
    assert await kubernetes.delete(ref)


async def a_pod_tells_how_it_is(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(PODS, pod(stage, "web", app="web"))
    before = await kubernetes.pod(stage.namespace, "web")
    assert (before.phase, before.is_ready, before.node) == ("Pending", False, "shelf-1")
    await running_pod(kubernetes, stage, "other", app="web")
    chosen = Selection(namespace=stage.namespace, labels="app=web", fields="spec.nodeName=shelf-1")
    pods = await kubernetes.pods(chosen)
    assert [(one.name, one.phase, one.is_ready) for one in pods] == [
        ("other", "Running", True),
        ("web", "Pending", False),
    ]
    assert not pods[0].has_ended
    assert not pods[0].is_mirror
    assert pods[0].labels == {"app": "web"}


async def a_budget_blocks_an_eviction_and_is_named(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    await running_pod(kubernetes, stage, "web", app="web")
    await budget(kubernetes, stage, allowed=0)
    evict = await kubernetes.evict(stage.namespace, "web")
    assert isinstance(evict, EvictionBlocked)
    assert evict.budget == "web-budget"
    assert "needs 1 healthy pods and has 1 currently" in evict.why
    assert not (await kubernetes.pod(stage.namespace, "web")).is_leaving


async def a_budget_lets_a_pod_go(kubernetes: KubernetesClient, stage: Stage) -> None:
    made = await running_pod(kubernetes, stage, "web", app="web")
    await budget(kubernetes, stage, allowed=1)
    uid = metadata(made)["uid"]
    tried = await kubernetes.evict(stage.namespace, "web", EvictionOptions(dry_run=True))
    assert tried == Evicted()
    assert not (await kubernetes.pod(stage.namespace, "web")).is_leaving
    assert (
        await kubernetes.evict(stage.namespace, "web", EvictionOptions(uid=uid, grace=5))
        == Evicted()
    )
    assert (await kubernetes.pod(stage.namespace, "web")).is_leaving
    with pytest.raises(NotFound):
        await kubernetes.evict(stage.namespace, "nowhere")


async def a_lease_is_held_by_one(kubernetes: KubernetesClient, stage: Stage) -> None:
    def wish(holder: str) -> LeaseRequest:
        return LeaseRequest(namespace=stage.namespace, name="run", holder=holder, seconds=15)

    mine = await kubernetes.acquire_lease(wish("one"))
    assert (mine.holder, mine.transitions, mine.seconds) == ("one", 0, 15)
    with pytest.raises(Locked) as caught:
        await kubernetes.acquire_lease(wish("two"))
    assert caught.value.problem.code == "kubernetes.lease"
    assert "one holds it" in str(caught.value.problem.why)
    stage.later(10)
    renewed = await kubernetes.renew_lease(mine)
    assert renewed.renewed is not None
    assert mine.renewed is not None
    assert renewed.renewed - mine.renewed >= timedelta(seconds=10)
    assert renewed.acquired == mine.acquired
    with pytest.raises(Locked):
        await kubernetes.renew_lease(mine)
    again = await kubernetes.acquire_lease(wish("one"))
    assert again.acquired == mine.acquired
    stage.later(21)
    taken = await kubernetes.acquire_lease(wish("two"))
    assert (taken.holder, taken.transitions) == ("two", 1)
    with pytest.raises(Locked):
        await kubernetes.renew_lease(again)
    with pytest.raises(Locked):
        await kubernetes.release_lease(again)
    freed = await kubernetes.release_lease(taken)
    assert freed.holder == ""
    assert (await kubernetes.acquire_lease(wish("one"))).transitions == 2


async def a_lease_keeps_what_others_wrote_on_it(kubernetes: KubernetesClient, stage: Stage) -> None:
    lease_request = LeaseRequest(namespace=stage.namespace, name="run", holder="one")
    await kubernetes.acquire_lease(lease_request)
    ref = ObjectRef(kind=LEASES, name="run", namespace=stage.namespace)
    await kubernetes.patch(ref, MergePatch(changes={"metadata": {"labels": {"a": "b"}}}))
    await kubernetes.acquire_lease(lease_request)
    assert metadata(await kubernetes.get(ref))["labels"] == {"a": "b"}


async def a_log_that_cannot_be_is_rejected(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(PODS, pod(stage, "web"))
    pod_log_request = PodLogRequest(namespace=stage.namespace, pod="web", container="nobody")
    with pytest.raises(Rejected) as caught:
        [line async for line in kubernetes.log(pod_log_request)]
    assert "container nobody is not valid for pod web" in str(caught.value.problem.why)
    with pytest.raises(NotFound):
        [
            line
            async for line in kubernetes.log(PodLogRequest(namespace=stage.namespace, pod="none"))
        ]
