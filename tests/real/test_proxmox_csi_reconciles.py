"""The storage driver makes volumes of claims: of the lab's cluster, on the lab's Proxmox VE."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest
import yaml
from stockman_lab.pve.guest import Guest

from tests.real.kube_served import Kubectl, kubectl_on_lab
from tests.real.storage_driver import DRIVER, sidecars, storage_driver
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

HOST = "pve"
STORAGE = "local-lvm"
PLACES = [f"topology.kubernetes.io/{one}" for one in ("region", "zone")]


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Kubectl]:
    """A cluster with the driver at work."""
    scratch = tmp_path_factory.mktemp("lab")
    with kubectl_on_lab(scratch, real_tool("kubectl"), "127.99.0.0/16") as served:
        _introduce(served)
        program = real_tool("proxmox-csi-controller")
        with (
            storage_driver(served.lab, HOST, scratch, program, served.config) as socket,
            sidecars(served.config, socket, scratch, real_tool),
        ):
            yield served


def _introduce(kubectl: Kubectl) -> None:
    """What the cloud controller, the driver's part on nodes and its chart bring."""
    name = _node(kubectl)
    kubectl.told("label", "node", name, *(f"{one}={HOST}" for one in PLACES))
    known = {"name": DRIVER, "nodeID": name, "topologyKeys": PLACES}
    version = "storage.k8s.io/v1"
    objects = [
        {"apiVersion": version, "kind": "CSIDriver", "metadata": {"name": DRIVER}},
        {
            "apiVersion": version,
            "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {"drivers": [known]},
        },
        {
            "apiVersion": version,
            "kind": "StorageClass",
            "metadata": {"name": "proxmox"},
            "provisioner": DRIVER,
            "parameters": {"csi.storage.k8s.io/fstype": "ext4", "storage": STORAGE},
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    ]
    kubectl.told("apply", "--server-side", "-f", "-", text=yaml.safe_dump_all(objects))


def _node(kubectl: Kubectl) -> str:
    (machine,) = kubectl.lab.world.talos.machines
    return machine.hostname


def _machine(kubectl: Kubectl) -> Guest:
    (cluster,) = kubectl.lab.world.state.clusters.values()
    (guest,) = cluster.guests.values()
    return guest


def _volumes(kubectl: Kubectl) -> list[str]:
    (cluster,) = kubectl.lab.world.state.clusters.values()
    return [volume.id for volume in cluster.volumes.values() if "pvc-" in volume.id]


WOOL = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: wool}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: proxmox
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: shed}
spec:
  containers:
  - {name: shed, image: "example.org/shed:1", volumeMounts: [{name: wool, mountPath: /wool}]}
  volumes: [{name: wool, persistentVolumeClaim: {claimName: wool}}]
"""


def test_a_claim_becomes_a_disk_of_the_machine_and_goes_again(kubectl: Kubectl) -> None:
    kubectl.told("apply", "-f", "-", text=WOOL)
    kubectl.told("wait", "pvc/wool", "--for=jsonpath={.status.phase}=Bound", "--timeout=50s")
    claim = json.loads(kubectl.told("get", "pvc", "wool", "-o", "json"))
    volume = json.loads(kubectl.told("get", "pv", claim["spec"]["volumeName"], "-o", "json"))
    handle = f"{HOST}/{HOST}/{STORAGE}/vm-9999-pvc-{claim['metadata']['uid']}"
    assert volume["spec"]["csi"]["volumeHandle"] == handle
    assert _volumes(kubectl) == [f"{STORAGE}:vm-9999-pvc-{claim['metadata']['uid']}"]

    code = hashlib.sha256(f"{handle}{DRIVER}{_node(kubectl)}".encode()).hexdigest()
    attachment = f"volumeattachment/csi-{code}"
    kubectl.told("wait", "--for=create", attachment, "--timeout=50s")
    kubectl.told("wait", attachment, "--for=jsonpath={.status.attached}=true", "--timeout=50s")
    disk = _machine(kubectl).config.values["scsi1"]
    assert str(disk).startswith(f"{STORAGE}:vm-9999-pvc-{claim['metadata']['uid']},")

    kubectl.told("delete", "pod", "shed")
    kubectl.told("wait", "--for=delete", attachment, "--timeout=50s")
    assert "scsi1" not in _machine(kubectl).config.values

    kubectl.told("delete", "pvc", "wool")
    kubectl.told("wait", "--for=delete", f"pv/{volume['metadata']['name']}", "--timeout=50s")
    assert _volumes(kubectl) == []


def test_what_happened_is_told_by_events(kubectl: Kubectl) -> None:
    kubectl.told("apply", "-f", "-", text=WOOL.replace("wool}", "more}").replace("shed}", "barn}"))
    kubectl.told("wait", "pvc/more", "--for=jsonpath={.status.phase}=Bound", "--timeout=50s")

    def reasons() -> set[str]:
        path = "jsonpath={.items[*].reason}"
        return set(kubectl.told("events", "--for", "pvc/more", "-o", path).split())

    expected = {"ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"}
    wait_until(lambda: expected <= reasons(), reasons)
