"""The network from contract 1.12 on, as documents of their own."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.machine.facts import Document, Machine

ALIAS = "net0"
"""Name of the link with the node's address; it is found by its MAC address."""


def document(kind: str, **fields: object) -> Document:
    """A document that is not the v1alpha1 one."""
    return {"apiVersion": "v1alpha1", "kind": kind, **fields}


def network_documents(machine: Machine) -> Iterator[Document]:
    """Host name, links, addresses, resolvers, time."""
    node, network = machine.node, machine.cluster.network
    yield document("HostnameConfig", hostname=node.name, auto="off")
    yield document(
        "LinkAliasConfig",
        name=ALIAS,
        selector={"match": f'mac(link.permanent_addr) == "{node.mac_addr}"'},
    )
    if network.vlan_tag is None:
        yield from _addressed(machine, ALIAS, "LinkConfig")
    else:
        yield document("LinkConfig", name=ALIAS, up=True, mtu=node.mtu)
        name = f"{ALIAS}.{network.vlan_tag}"
        yield from _addressed(machine, name, "VLANConfig", vlanID=network.vlan_tag, parent=ALIAS)
    for link in node.links:
        mtu = {} if link.mtu is None else {"mtu": link.mtu}
        yield document("LinkConfig", name=link.name, up=True, **mtu)
    host_dns: Document = {}
    if machine.styled(1, 14):
        host_dns = {"hostDNS": {"enabled": True, "forwardKubeDNSToHost": True}}
    yield document(
        "ResolverConfig",
        nameservers=[{"address": str(server)} for server in network.dns_servers],
        searchDomains={"disableDefault": True},
        **host_dns,
    )
    yield document("TimeSyncConfig", ntp={"servers": list(network.ntp_servers)})


def _addressed(machine: Machine, name: str, kind: str, **more: object) -> Iterator[Document]:
    node, network = machine.node, machine.cluster.network
    link = document(kind, name=name, **more, up=True, mtu=node.mtu)
    if network.addressing == "static":
        link["addresses"] = [{"address": str(node.address)}]
        # A route without a destination is the default route; 0.0.0.0/0 is refused.
        link["routes"] = [{"gateway": str(network.default_gateway)}]
    yield link
    if network.addressing == "dhcp":
        yield document("DHCPv4Config", name=name)
    if machine.is_controller:
        yield document("Layer2VIPConfig", name=str(machine.cluster.kubernetes.api_addr), link=name)
