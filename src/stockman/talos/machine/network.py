"""Network settings and registries of a machine, as documents and as sections of contract 1.11."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface, IPv4Network
from typing import NamedTuple
from urllib.parse import urlsplit

from stockman.model.machine import Bond, Link, RegistryMirror, Route, VlanLink
from stockman.talos.documents import Document, encode_base64
from stockman.talos.machine.inputs import MachineInputs, certificate_text, encode_key, new_document

ALIAS = "net0"
"""Name of the link with the node's address; it is selected by its MAC address."""

_EVERYWHERE = IPv4Network("0.0.0.0/0")


class LinkSettings(NamedTuple):
    """Settings of a link or a VLAN."""

    mtu: int | None = None
    """None: the default of the link."""
    addresses: tuple[IPv4Interface, ...] = ()
    dhcp: bool = False
    routes: tuple[Route, ...] = ()
    vip: str = ""
    """Virtual IP that it may take over. Empty: none."""


class NetworkLink(NamedTuple):
    """One link: a card, or a bond of cards."""

    name: str
    macs: tuple[str, ...]
    """MAC addresses of its cards. Empty: it is selected by its name."""
    settings: LinkSettings
    bond: Bond | None = None
    """None: a single card."""
    vlans: tuple[tuple[int, LinkSettings], ...] = ()


def list_links(machine: MachineInputs) -> list[NetworkLink]:
    """Return the link with the node's address, then the others."""
    return [_node_link(machine), *(_extra_link(link) for link in machine.node.links)]


def _node_link(machine: MachineInputs) -> NetworkLink:
    node, tag = machine.node, machine.cluster.network.vlan_tag
    settings = _node_settings(machine)
    vlans = tuple(_vlan_settings(vlan) for vlan in node.vlans)
    if tag is not None:
        vlans = ((tag, settings), *vlans)
        settings = LinkSettings(mtu=node.mtu)
    bond = node.bond
    if bond is None:
        return NetworkLink(ALIAS, (node.mac_addr,), settings, vlans=vlans)
    macs = tuple(dict.fromkeys((node.mac_addr, *bond.members)))
    return NetworkLink(bond.name, macs, settings, bond, vlans)


def _node_settings(machine: MachineInputs) -> LinkSettings:
    node, network = machine.node, machine.cluster.network
    static = network.addressing == "static"
    default = Route(network=_EVERYWHERE, gateway=network.default_gateway)
    return LinkSettings(
        mtu=node.mtu,
        addresses=(node.address,) if static else (),
        dhcp=not static,
        routes=(default, *node.routes) if static else node.routes,
        vip=_virtual_ip(machine) if machine.is_controller else "",
    )


def _virtual_ip(machine: MachineInputs) -> str:
    """Return the virtual IP of the API. Empty: the API has the address of a machine."""
    address = machine.cluster.kubernetes.api_addr
    own = {node.address.ip for node in machine.desired.nodes}
    return "" if address in own else str(address)


def _extra_link(link: Link) -> NetworkLink:
    return NetworkLink(
        link.name,
        (link.mac_addr,) if link.mac_addr is not None else (),
        LinkSettings(link.mtu, link.addresses, link.dhcp, link.routes),
        vlans=tuple(_vlan_settings(vlan) for vlan in link.vlans),
    )


def _vlan_settings(vlan: VlanLink) -> tuple[int, LinkSettings]:
    return vlan.id, LinkSettings(vlan.mtu, vlan.addresses, vlan.dhcp, vlan.routes)


def bond_options(bond: Bond) -> dict[str, object]:
    """Return options under the names that all contracts share; unset ones are left out."""
    options: dict[str, object] = {
        "miimon": bond.miimon,
        "updelay": bond.up_delay,
        "downdelay": bond.down_delay,
        "xmitHashPolicy": bond.hash_policy,
        "lacpRate": bond.lacp_rate,
        "adSelect": bond.ad_select,
        "minLinks": bond.min_links,
    }
    return {name: value for name, value in options.items() if value}


def network_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield documents for hostname, links, addresses, resolvers and time."""
    network = machine.cluster.network
    yield new_document("HostnameConfig", hostname=machine.node.name, auto="off")
    for link in list_links(machine):
        yield from _link_documents(link)
    yield new_document(
        "ResolverConfig",
        nameservers=[{"address": str(server)} for server in network.dns_servers],
        searchDomains={"disableDefault": True},
        **_host_dns_document(machine),
    )
    yield new_document("TimeSyncConfig", ntp={"servers": list(network.ntp_servers)})
    for address, names in machine.settings.host_entries.items():
        yield new_document("StaticHostConfig", name=address, hostnames=list(names))
    if machine.contract_at_least(1, 13) and machine.cluster.talos.kubespan:
        yield new_document("KubeSpanConfig", enabled=True)


def _host_dns_document(machine: MachineInputs) -> Document:
    if not machine.contract_at_least(1, 14):
        return {}
    return {"hostDNS": host_dns_fields(machine)}


def host_dns_fields(machine: MachineInputs) -> Document:
    """Return the settings of the caching DNS server, which are the same in every contract."""
    host_dns = machine.cluster.talos.host_dns
    fields: Document = {
        "enabled": host_dns.enabled,
        "forwardKubeDNSToHost": host_dns.forward_kube_dns,
    }
    if host_dns.resolve_member_names:
        fields["resolveMemberNames"] = True
    return fields


def _link_documents(link: NetworkLink) -> Iterator[Document]:
    if link.bond is not None:
        names = [f"net{index}" for index in range(len(link.macs))]
        for name, mac in zip(names, link.macs, strict=True):
            yield _alias(name, mac)
        options = {"links": names, "bondMode": link.bond.mode, **bond_options(link.bond)}
        yield from _settings_documents("BondConfig", link.name, link.settings, **options)
    else:
        for mac in link.macs:
            yield _alias(link.name, mac)
        yield from _settings_documents("LinkConfig", link.name, link.settings)
    for tag, settings in link.vlans:
        name = f"{link.name}.{tag}"
        yield from _settings_documents("VLANConfig", name, settings, vlanID=tag, parent=link.name)


def _alias(name: str, mac: str) -> Document:
    match = f'mac(link.permanent_addr) == "{mac}"'
    return new_document("LinkAliasConfig", name=name, selector={"match": match})


def _settings_documents(
    kind: str, name: str, settings: LinkSettings, **more: object
) -> Iterator[Document]:
    link = new_document(kind, name=name, **more, up=True)
    if settings.mtu is not None:
        link["mtu"] = settings.mtu
    if settings.addresses:
        link["addresses"] = [{"address": str(address)} for address in settings.addresses]
    if settings.routes:
        link["routes"] = [
            {
                # A route without a destination is the default route; 0.0.0.0/0 is refused.
                **({"destination": str(route.network)} if route.network.prefixlen else {}),
                **({"gateway": str(route.gateway)} if route.gateway is not None else {}),
                **({"metric": route.metric} if route.metric is not None else {}),
            }
            for route in settings.routes
        ]
    yield link
    if settings.dhcp:
        yield new_document("DHCPv4Config", name=name)
    if settings.vip:
        yield new_document("Layer2VIPConfig", name=settings.vip, link=name)


def network_section(machine: MachineInputs) -> Document | None:
    """Return the `network` section; None from contract 1.13 on, which has none."""
    if machine.contract_at_least(1, 13):
        return None
    kubespan: Document = {}
    if machine.cluster.talos.kubespan:
        kubespan = {"kubespan": {"enabled": True}}
    if machine.contract_at_least(1, 12):
        return kubespan
    network = machine.cluster.network
    section: Document = {
        "hostname": machine.node.name,
        "interfaces": [_interface(link) for link in list_links(machine)],
        "nameservers": [str(server) for server in network.dns_servers],
        "disableSearchDomain": True,
    }
    entries = machine.settings.host_entries
    if entries:
        section["extraHostEntries"] = [
            {"ip": address, "aliases": list(names)} for address, names in entries.items()
        ]
    return section | kubespan


def _interface(link: NetworkLink) -> Document:
    interface: Document = {"interface": link.name}
    if link.bond is not None:
        # The permanent address stays when a card joins a bond; its other address does not.
        cards = [{"permanentAddr": mac} for mac in link.macs]
        interface["bond"] = {
            "mode": link.bond.mode,
            "deviceSelectors": cards,
            **bond_options(link.bond),
        }
    elif link.macs:
        interface = {"deviceSelector": {"hardwareAddr": link.macs[0]}}
    interface |= _settings_fields(link.settings)
    if link.vlans:
        interface["vlans"] = [
            {"vlanId": tag} | _settings_fields(settings) for tag, settings in link.vlans
        ]
    return interface


def _settings_fields(settings: LinkSettings) -> Document:
    fields: Document = {"dhcp": settings.dhcp}
    if settings.mtu is not None:
        fields["mtu"] = settings.mtu
    if settings.addresses:
        fields["addresses"] = [str(address) for address in settings.addresses]
    if settings.routes:
        fields["routes"] = [
            {
                "network": str(route.network),
                **({"gateway": str(route.gateway)} if route.gateway is not None else {}),
                **({"metric": route.metric} if route.metric is not None else {}),
            }
            for route in settings.routes
        ]
    if settings.vip:
        fields["vip"] = {"ip": settings.vip}
    return fields


class _RegistryAccess(NamedTuple):
    """How a machine accesses one host."""

    host: str
    mirror: RegistryMirror
    ca: str
    """PEM. Empty: public CAs."""
    certificate: str
    """PEM. Empty: none."""

    @property
    def has_tls(self) -> bool:
        return bool(self.ca or self.certificate or self.mirror.insecure_skip_verify)


def mirror_hosts(registry: str, mirror: RegistryMirror) -> list[str]:
    """Return the hosts that the credentials of a mirror apply to."""
    return [urlsplit(url).netloc for url in mirror.endpoints] or [registry]


def registry_section(machine: MachineInputs) -> Document:
    """Return the `registries` section of contract 1.11."""
    mirrors: Document = {}
    for registry, mirror in _iter_mirrors(machine):
        entry: Document = {"endpoints": list(mirror.endpoints)}
        if mirror.override_path:
            entry["overridePath"] = True
        if mirror.skip_fallback:
            entry["skipFallback"] = True
        mirrors[registry] = entry
    config: Document = {}
    for access in _iter_accesses(machine):
        entry = {}
        if access.mirror.username is not None:
            entry["auth"] = _auth_fields(access.mirror)
        if access.has_tls:
            entry["tls"] = _section_tls(access)
        if entry:
            config[access.host] = entry
    section = {"mirrors": mirrors, "config": config}
    return {name: content for name, content in section.items() if content}


def registry_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield the registry documents of contract 1.12 and later."""
    for registry, mirror in _iter_mirrors(machine):
        path = {"overridePath": True} if mirror.override_path else {}
        endpoints = [{"url": url, **path} for url in mirror.endpoints]
        fallback = {"skipFallback": True} if mirror.skip_fallback else {}
        yield new_document("RegistryMirrorConfig", name=registry, endpoints=endpoints, **fallback)
    for access in _iter_accesses(machine):
        if access.mirror.username is not None:
            yield new_document(
                "RegistryAuthConfig", name=access.host, **_auth_fields(access.mirror)
            )
        if access.has_tls:
            yield new_document("RegistryTLSConfig", name=access.host, **_document_tls(access))


def _iter_mirrors(machine: MachineInputs) -> Iterator[tuple[str, RegistryMirror]]:
    for registry, mirror in machine.cluster.talos.registries.items():
        if mirror.endpoints:
            yield registry, mirror


def _iter_accesses(machine: MachineInputs) -> Iterator[_RegistryAccess]:
    seen: set[str] = set()
    for registry, mirror in machine.cluster.talos.registries.items():
        ca = certificate_text(machine, mirror.ca_file, mirror.where("ca_file"))
        certificate = certificate_text(
            machine, mirror.client_cert_file, mirror.where("client_cert_file")
        )
        for host in mirror_hosts(registry, mirror):
            if host not in seen:
                seen.add(host)
                yield _RegistryAccess(host, mirror, ca, certificate)


def _auth_fields(mirror: RegistryMirror) -> Document:
    return {"username": mirror.username, "password": mirror.password}


def _section_tls(access: _RegistryAccess) -> Document:
    fields: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        fields["clientIdentity"] = {
            "crt": encode_base64(access.certificate),
            "key": encode_key(access.mirror.client_key),
        }
    if access.ca:
        fields["ca"] = encode_base64(access.ca)
    return fields | _insecure_tls(access.mirror)


def _document_tls(access: _RegistryAccess) -> Document:
    fields: Document = {}
    if access.certificate and access.mirror.client_key is not None:
        fields["clientIdentity"] = {"cert": access.certificate, "key": access.mirror.client_key}
    if access.ca:
        fields["ca"] = access.ca
    return fields | _insecure_tls(access.mirror)


def _insecure_tls(mirror: RegistryMirror) -> Document:
    return {"insecureSkipVerify": True} if mirror.insecure_skip_verify else {}
