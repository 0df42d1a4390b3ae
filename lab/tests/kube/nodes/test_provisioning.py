"""Storage drivers make volumes for claims, and take them away again."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.controllers.registry import CONTROLLERS

from lab.tests.kube.nodes.running import Running

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
DRIVER = "csi.proxmox.sinextra.dev"
IMAGE = "ghcr.io/sergelogvinov/proxmox-csi-controller:v0.19.1"


def cluster() -> Running:
    running = Running("n1", more=CONTROLLERS)
    running.settle()
    running.network()
    spec = {"containers": [{"name": "c", "image": IMAGE}]}
    running.ask(
        "POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "d"}, "spec": spec}
    )
    running.settle()
    return running


def claim(running: Running, **more: Any) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **more,
    }
    running.ask("POST", CLAIMS, {"metadata": {"name": "wool"}, "spec": spec})
    running.settle()


def give_class(running: Running, mode: str = "Immediate") -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    body = {
        "metadata": {"name": "usual", "annotations": annotations},
        "provisioner": DRIVER,
        "volumeBindingMode": mode,
    }
    running.ask("POST", CLASSES, body)
    running.settle()


def phase(running: Running) -> str:
    return str(running.ask("GET", f"{CLAIMS}/wool")["status"]["phase"])


def test_a_claim_gets_a_volume_of_its_class() -> None:
    result = cluster()
    give_class(result)
    claim(result)
    assert phase(result) == "Bound"
    volume = result.ask("GET", VOLUMES)["items"][0]
    assert volume["spec"]["csi"]["driver"] == DRIVER
    assert volume["status"]["phase"] == "Bound"


def test_a_claim_that_was_there_first_gets_the_usual_class_later() -> None:
    result = cluster()
    claim(result)
    assert phase(result) == "Pending"
    give_class(result)
    assert phase(result) == "Bound"
    assert result.ask("GET", f"{CLAIMS}/wool")["spec"]["storageClassName"] == "usual"


def test_a_claim_that_wants_no_class_is_left_alone() -> None:
    result = cluster()
    claim(result, storageClassName="")
    give_class(result)
    assert phase(result) == "Pending"


def test_a_volume_is_made_once_it_is_known_where_its_pod_runs() -> None:
    result = cluster()
    give_class(result, "WaitForFirstConsumer")
    claim(result)
    assert phase(result) == "Pending"
    used = {"name": "wool", "persistentVolumeClaim": {"claimName": "wool"}}
    result.pod(volumes=[used])
    result.settle()
    assert phase(result) == "Bound"
    assert result.found()["status"]["phase"] == "Running"


def test_a_volume_goes_with_its_claim() -> None:
    result = cluster()
    give_class(result)
    claim(result)
    result.ask("DELETE", f"{CLAIMS}/wool")
    result.settle()
    assert result.ask("GET", VOLUMES)["items"] == []
