"""The network from contract 1.12 on, as documents of their own."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.machine.facts import Document, Machine, document
from stockman.talos.machine.wires import Face, Wire, bond_options, wires


def network_documents(machine: Machine) -> Iterator[Document]:
    """Host name, links, addresses, resolvers, time."""
    network = machine.cluster.network
    yield document("HostnameConfig", hostname=machine.node.name, auto="off")
    for wire in wires(machine):
        yield from _wire(wire)
    yield document(
        "ResolverConfig",
        nameservers=[{"address": str(server)} for server in network.dns_servers],
        searchDomains={"disableDefault": True},
        **_host_dns(machine),
    )
    yield document("TimeSyncConfig", ntp={"servers": list(network.ntp_servers)})
    for address, names in machine.settings.host_entries.items():
        yield document("StaticHostConfig", name=address, hostnames=list(names))
    if machine.styled(1, 13) and machine.cluster.talos.kubespan:
        yield document("KubeSpanConfig", enabled=True)


def _host_dns(machine: Machine) -> Document:
    if not machine.styled(1, 14):
        return {}
    return {"hostDNS": host_dns(machine)}


def host_dns(machine: Machine) -> Document:
    """The caching DNS server, in the words of every contract."""
    wanted = machine.cluster.talos.host_dns
    found: Document = {
        "enabled": wanted.enabled,
        "forwardKubeDNSToHost": wanted.forward_kube_dns,
    }
    if wanted.resolve_member_names:
        found["resolveMemberNames"] = True
    return found


def _wire(wire: Wire) -> Iterator[Document]:
    if wire.bond is not None:
        names = [f"net{index}" for index in range(len(wire.macs))]
        for name, mac in zip(names, wire.macs, strict=True):
            yield _alias(name, mac)
        options = {"links": names, "bondMode": wire.bond.mode, **bond_options(wire.bond)}
        yield from _faced("BondConfig", wire.name, wire.face, **options)
    else:
        for mac in wire.macs:
            yield _alias(wire.name, mac)
        yield from _faced("LinkConfig", wire.name, wire.face)
    for tag, face in wire.vlans:
        name = f"{wire.name}.{tag}"
        yield from _faced("VLANConfig", name, face, vlanID=tag, parent=wire.name)


def _alias(name: str, mac: str) -> Document:
    match = f'mac(link.permanent_addr) == "{mac}"'
    return document("LinkAliasConfig", name=name, selector={"match": match})


def _faced(kind: str, name: str, face: Face, **more: object) -> Iterator[Document]:
    link = document(kind, name=name, **more, up=True)
    if face.mtu is not None:
        link["mtu"] = face.mtu
    if face.addresses:
        link["addresses"] = [{"address": str(address)} for address in face.addresses]
    if face.routes:
        link["routes"] = [
            {
                # A route without a destination is the default route; 0.0.0.0/0 is refused.
                **({"destination": str(route.network)} if route.network.prefixlen else {}),
                **({"gateway": str(route.gateway)} if route.gateway is not None else {}),
                **({"metric": route.metric} if route.metric is not None else {}),
            }
            for route in face.routes
        ]
    yield link
    if face.dhcp:
        yield document("DHCPv4Config", name=name)
    if face.vip:
        yield document("Layer2VIPConfig", name=face.vip, link=name)
