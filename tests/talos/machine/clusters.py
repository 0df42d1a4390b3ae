"""Nodes with everything their machine configurations are made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired, Node
from stockman.model.version import Version
from stockman.talos.documents import Document
from stockman.talos.machine.configuration import machine_documents
from stockman.talos.machine.inputs import NO_FILES
from stockman.talos.secrets.bundle import SecretsBundle, new_bundle

KUBERNETES = {"1.11": "1.34.1", "1.12": "1.35.0", "1.13": "1.36.0", "1.14": "1.37.0"}
TALOS = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}

CLUSTER = """\
cluster_name: meadow
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_api_tls_sans: [api.example.com]
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_enabled: false
repository_name: owner/meadow
talos_version: {talos}
talos_contract: "{line}"
kubernetes_version: {kubernetes}
proxmox_endpoint: https://127.66.0.4:8006
"""
TALOS_SECTION = """\
talos:
  extensions: [siderolabs/qemu-guest-agent]
  registries:
    docker.io: {endpoints: ['https://127.66.0.5'], username: u, password: grazing}
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    vm: {vmid: 1021, host: pve-a}
  - name: work-1
    address: 127.66.0.31
    controller: false
    mac_addr: bc:24:11:00:00:31
    disk: SERIAL-1
    mtu: 9000
    encrypt_disk: true
    kernel_modules: [nbd]
    labels: {example.com/rack: a}
    taints: {example.com/slow: NoSchedule}
    annotations: {example.com/note: x}
    links: [{name: eth1, mtu: 1400}]
    vm: {vmid: 1031, host: pve-b, tpm: {}}
"""


def desired(line: str, cluster: str = "", nodes: str = NODES) -> Desired:
    """The cluster in the style of one Talos line, with more keys if wanted."""
    base = CLUSTER.format(talos=TALOS[line], line=line, kubernetes=KUBERNETES[line])
    text = base + (cluster if "talos:" in cluster else cluster + TALOS_SECTION)
    return loaded(text, nodes)


def loaded(cluster: str, nodes: str) -> Desired:
    """What two files say should be."""
    loaded_files = load({"cluster.yaml": cluster.encode(), "nodes.yaml": nodes.encode()})
    check_rules(loaded_files)
    return resolve(loaded_files)


@cache
def bundle() -> SecretsBundle:
    """One bundle for all tests of a process: making its RSA key takes a second."""
    count = iter(range(10**9))

    def random_bytes(length: int) -> bytes:
        return hashlib.shake_128(str(next(count)).encode()).digest(length)

    return new_bundle(Version(1, 13), datetime(2026, 1, 1, tzinfo=UTC), random_bytes)


def node_named(state: Desired, name: str) -> Node:
    return next(node for node in state.nodes if node.name == name)


def documents(
    state: Desired, name: str, files: Mapping[str, str] = NO_FILES
) -> dict[str, Document]:
    """Documents of a node by kind and name; the v1alpha1 one is called so."""
    return {
        " ".join(str(document.get(key)) for key in ("kind", "name") if key in document)
        or "v1alpha1": document
        for document in machine_documents(state, node_named(state, name), bundle(), files)
    }


def section(document: Any, *path: str | int) -> Any:
    """What stands at a path of a document."""
    for step in path:
        document = document[step]
    return document


def worker(keys: str) -> str:
    """`nodes.yaml` in which the worker has more keys, each on a line of its own."""
    return NODES + "".join(f"    {line}\n" for line in keys.splitlines())
