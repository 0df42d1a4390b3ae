"""Replica sets keep as many pods as wanted."""

from __future__ import annotations

from lab.tests.kube.controllers.playing import APPS, CORE, played, template, workload

LONE = {"metadata": {"name": "lone", "labels": {"app": "wool"}}, "spec": template()["spec"]}


def test_a_pod_that_fits_is_adopted() -> None:
    lab = played()
    lab.ask("POST", f"{CORE}/pods", LONE)

    lab.ask("POST", f"{APPS}/replicasets", workload(replicas=2))

    assert len(lab.items(f"{CORE}/pods")) == 2
    assert lab.get(f"{CORE}/pods/lone")["metadata"]["ownerReferences"][0]["name"] == "wool"


def test_a_pod_that_no_longer_fits_is_released_and_replaced() -> None:
    lab = played()
    lab.ask("POST", f"{APPS}/replicasets", workload(replicas=1))
    name = lab.names(f"{CORE}/pods")[0]

    lab.patch(f"{CORE}/pods/{name}", {"metadata": {"labels": {"app": "mutton"}}})

    assert "ownerReferences" not in lab.get(f"{CORE}/pods/{name}")["metadata"]
    assert len(lab.items(f"{CORE}/pods")) == 2


def test_pods_that_are_not_ready_go_first() -> None:
    lab = played()
    lab.ask("POST", f"{APPS}/replicasets", workload(replicas=1))
    lab.make_ready()
    ready = lab.names(f"{CORE}/pods")
    lab.patch(f"{APPS}/replicasets/wool", {"spec": {"replicas": 3}})

    lab.patch(f"{APPS}/replicasets/wool", {"spec": {"replicas": 1}})

    assert lab.names(f"{CORE}/pods") == ready


def test_a_pod_is_available_after_it_was_ready_for_long_enough() -> None:
    lab = played()
    lab.ask("POST", f"{APPS}/replicasets", workload(replicas=1, minReadySeconds=30))
    lab.make_ready()
    assert "availableReplicas" not in lab.get(f"{APPS}/replicasets/wool")["status"]

    lab.run(30.0)

    assert lab.get(f"{APPS}/replicasets/wool")["status"]["availableReplicas"] == 1


def test_a_pod_that_failed_is_replaced() -> None:
    lab = played()
    lab.ask("POST", f"{APPS}/replicasets", workload(replicas=1))

    lab.end("Failed")

    assert len(lab.items(f"{CORE}/pods")) == 2
