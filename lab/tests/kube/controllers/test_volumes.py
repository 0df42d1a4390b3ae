"""Claims find volumes, and volumes follow pods from node to node."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.nodes.provisioning import StorageDrivers

from lab.tests.kube.controllers.playing import CORE, Played, node, played, template

VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = f"{CORE}/persistentvolumeclaims"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
MODES = {"accessModes": ["ReadWriteOnce"]}
DRIVER = "rook-ceph.rbd.csi.ceph.com"


def volume(name: str, size: str = "1Gi") -> dict[str, Any]:
    csi = {"driver": DRIVER, "volumeHandle": name}
    return {
        "metadata": {"name": name},
        "spec": {"capacity": {"storage": size}, "csi": csi, **MODES},
    }


def claim(**spec: Any) -> dict[str, Any]:
    desired = {"resources": {"requests": {"storage": "1Gi"}}, **MODES, **spec}
    return {"metadata": {"name": "wool"}, "spec": desired}


def pod(lab: Played, name: str, where: str) -> None:
    spec = template(nodeName=where)["spec"]
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "wool"}}]
    lab.ask("POST", f"{CORE}/pods", {"metadata": {"name": name}, "spec": spec})


def driver(lab: Played) -> None:
    """The storage driver comes up."""
    image = {"name": "driver", "image": "quay.io/cephcsi/cephcsi:v3.15.0"}
    content = {"metadata": {"name": "driver"}, "spec": {"containers": [image], "nodeName": "two"}}
    lab.ask("POST", f"{CORE}/pods", content)
    state = {"name": "driver", "state": {"running": {}}, "image": image["image"], "imageID": ""}
    runs = {**state, "ready": True, "restartCount": 0}
    lab.tell("driver", {"phase": "Running", "containerStatuses": [runs]})


def bound() -> Played:
    lab = unattended()
    driver(lab)
    return lab


def unattended() -> Played:
    """A claim with its volume, and no driver that would attach it."""
    lab = played(StorageDrivers)
    for name in ("one", "two"):
        lab.ask("POST", "/api/v1/nodes", node(name))
    lab.ask("POST", VOLUMES, volume("small"))
    lab.ask("POST", CLAIMS, claim())
    return lab


def attached(lab: Played) -> dict[str, bool]:
    result = lab.items(ATTACHMENTS)
    return {
        item["spec"]["nodeName"]: item.get("status", {}).get("attached", False) for item in result
    }


def test_a_claim_takes_the_smallest_volume_that_is_large_enough() -> None:
    lab = played()
    for name, size in (("large", "9Gi"), ("tiny", "1Mi"), ("fitting", "2Gi")):
        lab.ask("POST", VOLUMES, volume(name, size))

    lab.ask("POST", CLAIMS, claim())

    assert lab.get(f"{CLAIMS}/wool")["spec"]["volumeName"] == "fitting"
    assert lab.get(f"{CLAIMS}/wool")["status"]["phase"] == "Bound"
    assert lab.get(f"{VOLUMES}/fitting")["status"]["phase"] == "Bound"


def test_a_claim_waits_for_its_first_consumer() -> None:
    lab = played()
    late = {"metadata": {"name": "late"}, "provisioner": "csi.example.org"}
    late["volumeBindingMode"] = "WaitForFirstConsumer"
    lab.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", late)

    lab.ask("POST", CLAIMS, claim(storageClassName="late"))
    assert "waiting for first consumer to be created before binding" in lab.messages()
    chosen = {"volume.kubernetes.io/selected-node": "one"}
    lab.patch(f"{CLAIMS}/wool", {"metadata": {"annotations": chosen}})

    annotations = lab.get(f"{CLAIMS}/wool")["metadata"]["annotations"]
    assert annotations["volume.kubernetes.io/storage-provisioner"] == "csi.example.org"


def test_a_claim_that_is_used_goes_after_its_pod() -> None:
    lab = bound()
    pod(lab, "user", "one")
    lab.ask("DELETE", f"{CLAIMS}/wool")
    assert lab.names(CLAIMS) == ["wool"]

    lab.ask("DELETE", f"{CORE}/pods/user", {"gracePeriodSeconds": 0})

    assert lab.names(CLAIMS) == []
    assert lab.get(f"{VOLUMES}/small")["status"]["phase"] == "Released"


def test_a_volume_is_attached_after_a_while() -> None:
    lab = bound()
    pod(lab, "user", "one")

    lab.run(10.0)

    assert attached(lab) == {"one": True}


def test_a_volume_waits_for_its_driver() -> None:
    lab = unattended()
    pod(lab, "user", "one")
    lab.run(60.0)
    assert attached(lab) == {"one": False}

    driver(lab)
    lab.run(10.0)

    assert attached(lab) == {"one": True}


def test_the_work_of_a_driver_elsewhere_is_left_to_it() -> None:
    lab = unattended()
    pod(lab, "user", "one")
    (name,) = lab.names(ATTACHMENTS)
    lab.patch(f"{ATTACHMENTS}/{name}", {"metadata": {"finalizers": ["elsewhere.example/held"]}})
    lab.ask("DELETE", f"{CORE}/pods/user", {"gracePeriodSeconds": 0})
    lab.run(60.0)
    assert lab.get(f"{ATTACHMENTS}/{name}")["metadata"]["deletionTimestamp"]

    lab.patch(f"{ATTACHMENTS}/{name}", {"metadata": {"finalizers": None}})

    assert attached(lab) == {}


def test_a_driver_may_say_that_nothing_is_attached() -> None:
    lab = unattended()
    own = {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}}
    lab.ask("POST", "/apis/storage.k8s.io/v1/csidrivers", own)

    pod(lab, "user", "one")

    assert lab.names(ATTACHMENTS) == []


def test_a_volume_moves_when_the_first_pod_is_gone() -> None:
    lab = bound()
    pod(lab, "user", "one")
    lab.run(10.0)
    pod(lab, "next", "two")
    assert any(message.startswith("Multi-Attach error") for message in lab.messages())

    lab.ask("DELETE", f"{CORE}/pods/user", {"gracePeriodSeconds": 0})
    lab.run(30.0)

    assert attached(lab) == {"two": True}


def test_a_silent_node_keeps_a_volume_for_six_minutes() -> None:
    lab = bound()
    pod(lab, "user", "one")
    lab.run(10.0)
    lab.patch("/api/v1/nodes/one/status", {"status": {"conditions": [UNKNOWN]}})
    lab.ask("DELETE", f"{CORE}/pods/user", {"gracePeriodSeconds": 0})
    lab.run(300.0)
    assert attached(lab) == {"one": True}

    lab.run(90.0)

    assert attached(lab) == {}


UNKNOWN = {"type": "Ready", "status": "Unknown"}
