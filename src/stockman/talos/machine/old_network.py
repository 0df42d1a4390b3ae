"""The network of contract 1.11, inside of the v1alpha1 document."""

from __future__ import annotations

from stockman.talos.machine.facts import Document, Machine


def old_network(machine: Machine) -> Document | None:
    """The `network` section; None from contract 1.13 on, which has none."""
    if machine.styled(1, 13):
        return None
    if machine.styled(1, 12):
        return {}
    network = machine.cluster.network
    return {
        "hostname": machine.node.name,
        "interfaces": [_addressed(machine), *_unaddressed(machine)],
        "nameservers": [str(server) for server in network.dns_servers],
        "disableSearchDomain": True,
    }


def _addressed(machine: Machine) -> Document:
    node, network = machine.node, machine.cluster.network
    link: Document = {"deviceSelector": {"hardwareAddr": node.mac_addr}, "mtu": node.mtu}
    where: Document = link
    if network.vlan_tag is not None:
        where = {"vlanId": network.vlan_tag}
    if network.addressing == "dhcp":
        where["dhcp"] = True
    else:
        where["dhcp"] = False
        where["addresses"] = [str(node.address)]
        where["routes"] = [{"network": "0.0.0.0/0", "gateway": str(network.default_gateway)}]
    if machine.is_controller:
        where["vip"] = {"ip": str(machine.cluster.kubernetes.api_addr)}
    if network.vlan_tag is not None:
        where["mtu"] = node.mtu
        link["dhcp"] = False
        link["vlans"] = [where]
    return link


def _unaddressed(machine: Machine) -> list[Document]:
    links: list[Document] = []
    for link in machine.node.links:
        entry: Document = {"interface": link.name, "dhcp": False}
        if link.mtu is not None:
            entry["mtu"] = link.mtu
        links.append(entry)
    return links
