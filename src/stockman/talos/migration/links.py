"""Contract 1.12: every interface becomes the documents of a link."""

from __future__ import annotations

import re
from ipaddress import ip_address

from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Nature, Plain
from stockman.talos.migration.link_parts import (
    bond_fields,
    bridge_fields,
    dhcp_documents,
    link_fields,
    wireguard_fields,
)
from stockman.talos.migration.values import mapping, mappings, text, texts

_PATH = "machine.network.interfaces"
_REASON = "links, addresses and routes are documents of their own"
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")


def links(draft: Draft) -> None:
    given = mappings(draft.get(_PATH))
    if given:
        _Links(draft, given).move()
    if draft.get("machine.network") == {}:
        draft.take("machine.network", "it is empty", Nature.REMOVED)


class _Links:
    """The interfaces of one configuration: those that move, and those that cannot."""

    def __init__(self, draft: Draft, given: list[Plain]) -> None:
        self._draft = draft
        self._given = given
        self._aliases: dict[str, str] = {}
        self._taken = {name for _, name in draft.configuration}
        self._taken |= {text(one.get("interface")) for one in given}

    def move(self) -> None:
        kept: list[Plain] = []
        moved: list[Plain] = []
        for interface in self._given:
            why = self._obstacle(interface)
            (moved if why is None else kept).append(interface)
            if why is not None:
                self._keep(interface, why)
        if not moved:
            return
        self._draft.replace(_PATH, kept or None, _REASON)
        for interface in moved:
            self._document(interface)
        if not self._draft.fragment:
            self._draft.changes(
                _PATH,
                "links that no document names get no address any more",
                why="with interfaces in the v1alpha1 document Talos asks for addresses by DHCP on"
                " all other cards; with link documents it does not",
                fix="write a DHCPv4Config for every other card that needs an address",
            )

    def _keep(self, interface: Plain, why: str) -> None:
        name = text(interface.get("interface")) or "chosen by a selector"
        self._draft.kept(
            _PATH,
            why=f"the interface {name}: {why}",
            fix="Talos reads it there; write link documents by hand if you want to leave it",
        )

    def _obstacle(self, interface: Plain) -> str | None:
        """Why an interface has no equal among the documents; None: it has."""
        if interface.get("ignore") is True:
            return "no document says that a link is to be left alone"
        selector = mapping(interface.get("deviceSelector"))
        if selector and _selected_mac(selector) is None:
            return "its selector may match several links, and an alias names one"
        if selector and self._draft.fragment:
            return "the alias of the link is made by the whole configuration, not by a patch"
        bond = mapping(interface.get("bond"))
        if any(_selected_mac(one) is None for one in mappings(bond.get("deviceSelectors"))):
            return "its bond has selectors that may match several links"
        if bond.get("primary"):
            return "no document names the primary link of a bond"
        if any(mapping(one.get("vip")).get("equinixMetal") for one in _with_vlans(interface)):
            return "no document knows the virtual addresses of Equinix Metal"
        master = text(mapping(interface.get("bridgePort")).get("master"))
        if master and not any(
            one.get("interface") == master and one.get("bridge") for one in self._given
        ):
            return f"its bridge {master} is not in this configuration"
        peers = mappings(mapping(interface.get("wireguard")).get("peers"))
        if not all(_is_address_and_port(text(peer.get("endpoint"))) for peer in peers):
            return "the endpoint of a peer is no address with a port"
        return None

    def _document(self, interface: Plain) -> None:
        name = text(interface.get("interface"))
        if not name:
            name = self._alias(mapping(interface["deviceSelector"]))
        self._link(name, interface)
        for vlan in mappings(interface.get("vlans")):
            self._vlan(name, vlan)

    def _link(self, name: str, interface: Plain) -> None:
        kind, fields = "LinkConfig", link_fields(interface)
        if interface.get("bond") is not None:
            kind, fields = "BondConfig", self._bond(mapping(interface["bond"])) | fields
        elif interface.get("bridge") is not None:
            kind, fields = "BridgeConfig", self._bridge(name, mapping(interface["bridge"])) | fields
        elif interface.get("wireguard") is not None:
            kind, fields = (
                "WireguardConfig",
                wireguard_fields(mapping(interface["wireguard"])) | fields,
            )
        elif interface.get("dummy") is True:
            kind = "DummyLinkConfig"
        self._put(kind, fields, name)
        self._addressing(name, interface)

    def _vlan(self, parent: str, vlan: Plain) -> None:
        number = vlan.get("vlanId")
        name = f"{parent}.{number}"
        self._put("VLANConfig", {"vlanID": number, "parent": parent, **link_fields(vlan)}, name)
        self._addressing(name, vlan)

    def _addressing(self, name: str, given: Plain) -> None:
        for kind, fields in dhcp_documents(given, names_itself=self._draft.adopt):
            self._put(kind, fields, name)
        virtual = mapping(given.get("vip"))
        address = text(virtual.get("ip"))
        cloud = mapping(virtual.get("hcloud"))
        if cloud:
            token = {"apiToken": cloud.get("apiToken", "")}
            self._put("HCloudVIPConfig", {"link": name, **token}, address)
        elif address:
            self._put("Layer2VIPConfig", {"link": name}, address)

    def _bond(self, bond: Plain) -> Plain:
        fields = bond_fields(bond)
        aliases = [self._alias(one) for one in mappings(bond.get("deviceSelectors"))]
        return {**fields, "links": [*texts(fields["links"]), *aliases]}

    def _bridge(self, name: str, bridge: Plain) -> Plain:
        fields = bridge_fields(bridge)
        ports = [
            text(one.get("interface"))
            for one in self._given
            if text(mapping(one.get("bridgePort")).get("master")) == name
        ]
        return {**fields, "links": [*texts(fields["links"]), *ports]}

    def _alias(self, selector: Plain) -> str:
        mac = _selected_mac(selector) or ""
        if mac not in self._aliases:
            name = next(
                f"net{n}" for n in range(len(self._taken) + 1) if f"net{n}" not in self._taken
            )
            self._taken.add(name)
            self._aliases[mac] = name
            match = f'mac(link.permanent_addr) == "{mac}"'
            self._put("LinkAliasConfig", {"selector": {"match": match}}, name)
        return self._aliases[mac]

    def _put(self, kind: str, fields: Plain, name: str) -> None:
        self._draft.put(kind, fields, _REASON, name=name)


def _with_vlans(interface: Plain) -> list[Plain]:
    return [interface, *mappings(interface.get("vlans"))]


def _selected_mac(selector: Plain) -> str | None:
    """The one card that a selector means; None: it may mean several."""
    if set(selector) - {"hardwareAddr", "permanentAddr", "physical"}:
        return None
    if selector.get("physical") is False:
        return None
    addresses = {text(selector.get(key)).lower() for key in ("hardwareAddr", "permanentAddr")}
    addresses.discard("")
    if len(addresses) != 1:
        return None
    (address,) = addresses
    return address if _MAC.fullmatch(address) else None


def _is_address_and_port(endpoint: str) -> bool:
    if not endpoint:
        return True
    host, _, port = endpoint.rpartition(":")
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return port.isdigit()
