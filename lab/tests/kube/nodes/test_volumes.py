"""Pods begin when their volumes are attached to their nodes."""

from __future__ import annotations

from lab.tests.kube.nodes.running import Running, up

STORAGE = "/apis/storage.k8s.io/v1"
DRIVER = "csi.example.org"


def cluster_with_volume() -> Running:
    cluster = up("n1")
    modes = {"accessModes": ["ReadWriteOnce"]}
    csi = {"driver": DRIVER, "volumeHandle": "1"}
    volume = {"capacity": {"storage": "1Gi"}, "csi": csi, **modes}
    cluster.ask("POST", "/api/v1/persistentvolumes", {"metadata": {"name": "v"}, "spec": volume})
    claim = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v", **modes}
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    cluster.ask("POST", claims, {"metadata": {"name": "wool"}, "spec": claim})
    return cluster


def run_with_volume(cluster: Running) -> None:
    used = {"name": "wool", "persistentVolumeClaim": {"claimName": "wool"}}
    cluster.pod(nodeName="n1", volumes=[used])
    cluster.settle()


def test_a_pod_waits_until_its_volume_is_attached() -> None:
    cluster = cluster_with_volume()
    run_with_volume(cluster)
    waiting = cluster.found()["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "ContainerCreating"
    spec = {"attacher": DRIVER, "nodeName": "n1", "source": {"persistentVolumeName": "v"}}

    made = {"metadata": {"name": "a"}, "spec": spec}
    cluster.ask("POST", f"{STORAGE}/volumeattachments", made)
    cluster.settle()
    assert cluster.found()["status"]["phase"] == "Pending"
    told = {"status": {"attached": True}}
    cluster.ask("PATCH", f"{STORAGE}/volumeattachments/a/status", told)
    cluster.settle()

    assert cluster.found()["status"]["phase"] == "Running"


def test_a_volume_that_is_never_attached_is_not_waited_for() -> None:
    cluster = cluster_with_volume()
    driver = {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}}
    cluster.ask("POST", f"{STORAGE}/csidrivers", driver)

    run_with_volume(cluster)

    assert cluster.found()["status"]["phase"] == "Running"
