"""Karpenter for Proxmox VE beside a lab, in a network that has nothing but loopback addresses.

    unshare -r --net python -m tests.real.karpenter_script FOLDER KUBECTL KARPENTER KINDS

It opens ports on all addresses and cannot be told otherwise, hence a network of its own. Prints
what became of the objects, and which machines Proxmox VE has in the end.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from stockman_lab.pve.guest_rows import PVESTATD_SECONDS
from stockman_lab.servers.memory import MemoryClient

from tests.real.kube_served import Kubectl, kubectl_on_lab

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
HOST, STORAGE, TEMPLATE = "pve", "local-lvm", 9001
_GROUP = "karpenter.proxmox.sinextra.dev"
_TEMPLATE = {
    "apiVersion": f"{_GROUP}/v1alpha1",
    "kind": "ProxmoxUnmanagedTemplate",
    "metadata": {"name": "wool"},
    "spec": {"region": HOST, "templateName": "wool"},
}
_POOL = [
    {
        "apiVersion": f"{_GROUP}/v1alpha1",
        "kind": "ProxmoxNodeClass",
        "metadata": {"name": "wool"},
        "spec": {
            "region": HOST,
            "instanceTemplateRef": {"kind": "ProxmoxUnmanagedTemplate", "name": "wool"},
            "bootDevice": {"size": "30G", "storage": STORAGE},
        },
    },
    {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "wool"},
        "spec": {
            "template": {
                "spec": {
                    "nodeClassRef": {"group": _GROUP, "kind": "ProxmoxNodeClass", "name": "wool"},
                    "requirements": [
                        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
                    ],
                }
            }
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hungry"},
        "spec": {
            "nodeSelector": {"karpenter.sh/nodepool": "wool"},
            "containers": [
                {
                    "name": "hungry",
                    "image": "example.org/hungry:1",
                    "resources": {"requests": {"cpu": "2", "memory": "1Gi"}},
                }
            ],
        },
    },
]


def main(folder: Path, kubectl: Path, karpenter: Path, definitions: Path) -> None:
    """Serve a lab, run the program beside it, and print what was seen."""
    _loopback_up()
    with kubectl_on_lab(folder, kubectl, "127.103.0.0/16") as served:
        served.lab.run(lambda: _make_template(served))
        stdout = subprocess.run([definitions], capture_output=True, text=True, check=True).stdout
        served.told("apply", "--server-side", "-f", "-", text=stdout)
        served.told("wait", "--for=condition=Established", "crd", "--all", "--timeout=50s")
        with _running(served, folder, karpenter):
            found = _reconciled(served)
        sys.stdout.write(json.dumps(found))


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        known = fcntl.ioctl(any_socket, _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", known)[1]
        wanted = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(any_socket, _SET_FLAGS, wanted)


def _make_template(served: Kubectl) -> None:
    (name,) = served.lab.world.clusters
    door = MemoryClient(served.lab.world, name)
    wanted = {"scsi0": f"{STORAGE}:4", "net0": "virtio,bridge=vmbr0"}
    assert door.done(door.post(f"/nodes/{HOST}/qemu", vmid=TEMPLATE, name="wool", **wanted)) == "OK"
    assert door.done(door.post(f"/nodes/{HOST}/qemu/{TEMPLATE}/template")) == "OK"
    # Karpenter looks for templates in the list of resources.
    served.lab.world.advance(PVESTATD_SECONDS)


@contextmanager
def _running(served: Kubectl, folder: Path, karpenter: Path) -> Iterator[None]:
    cluster = {
        "url": f"{served.lab.endpoint}/api2/json",
        "insecure": True,
        "token_id": served.lab.token_id,
        "token_secret": served.lab.token_secret,
        "region": HOST,
    }
    config = folder / "cloud.yaml"
    config.write_text(yaml.safe_dump({"clusters": [cluster]}))
    names = {"PATH": os.environ["PATH"], "SYSTEM_NAMESPACE": "kube-system"}
    with (folder / "karpenter.log").open("w") as log:
        process = subprocess.Popen(
            [karpenter, "-cloud-config", config, "-leader-election-namespace", "kube-system"],
            env={**names, "KUBECONFIG": str(served.config)},
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def _reconciled(served: Kubectl) -> dict[str, Any]:
    ready = ("--for=condition=Ready", "--timeout=50s")
    served.told("apply", "-f", "-", text=yaml.safe_dump(_TEMPLATE))
    served.told("wait", "proxmoxunmanagedtemplate/wool", *ready)
    served.told("apply", "-f", "-", text=yaml.safe_dump_all(_POOL))
    served.told("wait", "proxmoxnodeclass/wool", "nodepool/wool", *ready)
    claims = ("nodeclaim", "-l", "karpenter.sh/nodepool=wool")
    served.told("wait", "--for=create", *claims, "--timeout=50s")
    served.told("wait", "--for=condition=Launched", *claims, "--timeout=50s")
    (claim,) = json.loads(served.told("get", *claims, "-o", "json"))["items"]
    (cluster,) = served.lab.world.state.clusters.values()
    return {
        "claim": claim["status"]["providerID"],
        "owner": claim["metadata"]["ownerReferences"][0]["name"],
        "machines": {str(vmid): guest.config.values for vmid, guest in cluster.guests.items()},
        "events": served.told("events", "--for", "pod/hungry", "-o", "jsonpath={.items[*].reason}"),
    }


if __name__ == "__main__":
    main(*(Path(one) for one in sys.argv[1:]))
