"""What a new node gets of others: its part of the pod network, and the word of the cloud."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.nodes.host import CloudWord, Description, Host, Hosts
from stockman_lab.kube.nodes.node_object import UNINITIALIZED
from stockman_lab.kube.nodes.pod_running import free_network
from stockman_lab.kube.nodes.proxmox_cloud import PURPOSE, configuration, secret_names
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.programs import is_running, purposes


class NodeSetup(Controller):
    """Sets nodes up that are new."""

    name = "node-setup"
    component = "node-controller"
    watches = ("nodes", "pods")
    hosts: ClassVar[Hosts]

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Nodes; all of them when a cloud controller changes."""
        if change.key.resource == "nodes":
            yield change.key.name
        elif {"cloud", PURPOSE} & purposes(change.newest):
            for node in self.objects.listed("nodes"):
                yield str(metadata_of(node)["name"])

    def sync(self, key: str) -> None:
        """Bring a node in order."""
        node = self.objects.get("nodes", key)
        if node is not None:
            self._initialize(node)

    def _initialize(self, node: Object) -> None:
        """What the node needs of others: its part of the network, and the word of the cloud."""
        spec = part_of(node, "spec")
        host = self.hosts.host(str(metadata_of(node)["name"]))
        if host is None or not host.is_alive:
            return
        description = host.description()
        if description.pod_subnets and not spec.get("podCIDR"):
            network = free_network(self.objects.listed("nodes"), description.pod_subnets)
            if network:
                node = self.client.patch(
                    node, {"spec": {"podCIDR": network, "podCIDRs": [network]}}
                )
                spec = part_of(node, "spec")
        waits = any(taint.get("key") == UNINITIALIZED for taint in spec.get("taints") or [])
        word = self._word(host, description) if waits else None
        if word is not None:
            taints = [taint for taint in spec["taints"] if taint.get("key") != UNINITIALIZED]
            change: Object = {"spec": {"taints": taints or None}}
            if word.provider_id and not spec.get("providerID"):
                change["spec"]["providerID"] = word.provider_id
            if labels := {name: value for name, value in _labels(word).items() if value}:
                change["metadata"] = {"labels": labels}
            self.client.patch(node, change)

    def _word(self, host: Host, description: Description) -> CloudWord | None:
        """What the cloud says of a machine. None: nobody does, or nobody knows it."""
        running = [one for one in self.objects.listed("pods") if is_running(one)]
        asking = [item for item in running if PURPOSE in purposes(item)]
        for pod in asking:
            namespace = str(metadata_of(pod)["namespace"])
            for name in secret_names(pod):
                secret = self.objects.get("secrets", f"{namespace}/{name}")
                in_proxmox = host.in_proxmox(configuration(secret)) if secret is not None else None
                if in_proxmox is not None:
                    return in_proxmox
        if not asking and any("cloud" in purposes(item) for item in running):
            return CloudWord(provider_id=description.provider_id)
        return None


def _labels(cloud_word: CloudWord) -> dict[str, str]:
    return {
        "node.kubernetes.io/instance-type": cloud_word.instance_type,
        "topology.kubernetes.io/region": cloud_word.region,
        "topology.kubernetes.io/zone": cloud_word.zone,
        "topology.proxmox.sinextra.dev/region": cloud_word.region,
        "topology.proxmox.sinextra.dev/zone": cloud_word.zone,
    }
