"""Stateful sets act on one pod after the other."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.controllers.playing import APPS, CORE, Played, played, workload

WOOL = f"{APPS}/statefulsets/wool"


def started(ready: int, **spec: Any) -> Played:
    lab = played()
    lab.ask("POST", f"{APPS}/statefulsets", workload(serviceName="wool", **spec))
    for _ in range(ready):
        lab.make_ready()
    return lab


def relabel(lab: Played, **more: Any) -> None:
    labels = {"metadata": {"labels": {"fold": "north"}}}
    lab.patch(WOOL, {"spec": {"template": labels, **more}})


def folds(lab: Played) -> list[str]:
    return [item["metadata"]["labels"].get("fold", "") for item in lab.items(f"{CORE}/pods")]


def test_pods_come_up_in_order() -> None:
    lab = started(0, replicas=3)
    assert lab.names(f"{CORE}/pods") == ["wool-0"]

    lab.make_ready()

    assert lab.names(f"{CORE}/pods") == ["wool-0", "wool-1"]


def test_parallel_pods_come_up_at_once() -> None:
    lab = started(0, replicas=3, podManagementPolicy="Parallel")

    assert lab.names(f"{CORE}/pods") == ["wool-0", "wool-1", "wool-2"]


def test_an_update_begins_with_the_last_pod() -> None:
    lab = started(3, replicas=3)

    relabel(lab)

    assert folds(lab) == ["", "", "north"]


def test_pods_below_the_partition_stay_as_they_are() -> None:
    lab = started(3, replicas=3)
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}

    relabel(lab, updateStrategy=rolling)
    lab.make_ready()
    lab.make_ready()

    assert folds(lab) == ["", "north", "north"]
    assert lab.get(WOOL)["status"]["currentRevision"] != lab.get(WOOL)["status"]["updateRevision"]


def test_the_last_pod_goes_first_and_leaves_its_claim() -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = [{"metadata": {"name": "data"}, "spec": claim}]
    lab = started(2, replicas=2, volumeClaimTemplates=claims)

    lab.patch(WOOL, {"spec": {"replicas": 1}})

    assert lab.names(f"{CORE}/pods") == ["wool-0"]
    names = lab.names(f"{CORE}/persistentvolumeclaims")
    assert names == ["data-wool-0", "data-wool-1"]


def test_a_pod_that_was_deleted_comes_back_under_its_name() -> None:
    lab = started(2, replicas=2)
    before = lab.get(f"{CORE}/pods/wool-0")["metadata"]["uid"]

    lab.ask("DELETE", f"{CORE}/pods/wool-0")

    assert lab.get(f"{CORE}/pods/wool-0")["metadata"]["uid"] != before
