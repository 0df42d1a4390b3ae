"""Patches of `talosctl gen config` that ask for the machines of an estate, written by hand.

They know Talos and what should be, and nothing of how stockman writes configurations.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import yaml

from stockman.model.desired import Cluster, Desired, Node
from tests.talos.machine.everything import FILES, certificate, key

EVERYTHING = Path(__file__).with_name("everything.yaml")

Documents = list[dict[str, Any]]


def everything_by_hand(line: str, role: str) -> Iterator[str]:
    """The patches for one machine of the estate with everything."""
    texts = {
        "CERTIFICATE": certificate(),
        "KEY": key(),
        "CERTIFICATE64": base64.b64encode(certificate().encode()).decode(),
        "KEY64": base64.b64encode(key().encode()).decode(),
        "HELLO": FILES["talos/hello.yaml"],
        "SHARE": "50GiB" if line == "1.11" else "80%",
    }
    quoted = {name: json.dumps(text) for name, text in texts.items()}
    for part in EVERYTHING.read_text().split("\n#: ")[1:]:
        head, _, text = part.partition("\n")
        lines, roles = head.split(" ")
        if line in lines.split(",") and role in roles.split(","):
            yield Template(text).safe_substitute(quoted)


def preset_by_hand(line: str, desired: Desired, node: Node) -> Iterator[str]:
    """The patches for one machine of a preset, which needs little."""
    assert desired.cluster is not None
    kubernetes = _kubernetes_114 if line == "1.14" else _old_kubernetes
    network = _old_network if line == "1.11" else _network
    yield yaml.safe_dump_all(kubernetes(desired.cluster, node))
    yield yaml.safe_dump_all(network(desired.cluster, node))
    modules = [{"name": name} for name in node.kernel_modules]
    if modules and line != "1.14":
        yield yaml.safe_dump({"machine": {"kernel": {"modules": modules}}})
    elif modules:
        yield yaml.safe_dump_all([_document("KernelModuleConfig", **module) for module in modules])


def _document(kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1alpha1", "kind": kind, **fields}


def _old_kubernetes(cluster: Cluster, node: Node) -> Documents:
    nodes = str(cluster.network.node_cidr)
    everywhere: dict[str, Any] = {
        "network": {
            "cni": {"name": "none"},
            "podSubnets": [str(cluster.kubernetes.pod_cidr)],
            "serviceSubnets": [str(cluster.kubernetes.svc_cidr)],
        }
    }
    if node.is_controller:
        everywhere |= {
            "proxy": {"disabled": True},
            "coreDNS": {"disabled": True},
            "allowSchedulingOnControlPlanes": cluster.kubernetes.schedule_on_controllers,
            "etcd": {"advertisedSubnets": [nodes]},
        }
    return [{"machine": {"kubelet": {"nodeIP": {"validSubnets": [nodes]}}}, "cluster": everywhere}]


def _kubernetes_114(cluster: Cluster, node: Node) -> Documents:
    nodes = str(cluster.network.node_cidr)
    documents = [
        _document("KubeNodeConfig", nodeIP={"validSubnets": [nodes]}),
        _document(
            "KubeNetworkConfig",
            podSubnets=[str(cluster.kubernetes.pod_cidr)],
            serviceSubnets=[str(cluster.kubernetes.svc_cidr)],
        ),
    ]
    if node.is_controller:
        documents += [
            {"cluster": {"etcd": {"advertisedSubnets": [nodes]}}},
            _document("KubeProxyConfig", enabled=False),
            _document("KubeCoreDNSConfig", enabled=False),
            _document("KubeFlannelCNIConfig", **{"$patch": "delete"}),
        ]
    if node.is_controller and cluster.kubernetes.schedule_on_controllers:
        documents[0]["taints"] = {"$patch": "delete"}
    return documents


def _old_network(cluster: Cluster, node: Node) -> Documents:
    network = cluster.network
    own: dict[str, Any] = {
        "deviceSelector": {"hardwareAddr": str(node.mac_addr)},
        "mtu": node.mtu,
        "dhcp": network.addressing == "dhcp",
    }
    if network.addressing == "static":
        own["addresses"] = [str(node.address)]
        own["routes"] = [{"network": "0.0.0.0/0", "gateway": str(network.default_gateway)}]
    if node.is_controller:
        own["vip"] = {"ip": str(cluster.kubernetes.api_addr)}
    section = {
        "hostname": str(node.name),
        "disableSearchDomain": True,
        "nameservers": [str(server) for server in network.dns_servers],
        "interfaces": [own, *({"interface": link.name, "dhcp": False} for link in node.links)],
    }
    return [{"machine": {"network": section, "time": {"servers": list(network.ntp_servers)}}}]


def _network(cluster: Cluster, node: Node) -> Documents:
    network = cluster.network
    own = _document("LinkConfig", name="net0", up=True, mtu=node.mtu)
    match = f'mac(link.permanent_addr) == "{node.mac_addr}"'
    documents = [
        _document("HostnameConfig", auto="off", hostname=str(node.name)),
        _document("LinkAliasConfig", name="net0", selector={"match": match}),
        own,
        *(_document("LinkConfig", name=link.name, up=True) for link in node.links),
        _document(
            "ResolverConfig",
            nameservers=[{"address": str(server)} for server in network.dns_servers],
            searchDomains={"disableDefault": True},
        ),
        _document("TimeSyncConfig", ntp={"servers": list(network.ntp_servers)}),
    ]
    if network.addressing == "static":
        own["addresses"] = [{"address": str(node.address)}]
        own["routes"] = [{"gateway": str(network.default_gateway)}]
    else:
        documents.append(_document("DHCPv4Config", name="net0"))
    if node.is_controller:
        virtual = str(cluster.kubernetes.api_addr)
        documents.append(_document("Layer2VIPConfig", name=virtual, link="net0"))
    return documents
