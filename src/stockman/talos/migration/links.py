"""Contract 1.12: interfaces of the v1alpha1 document as link documents."""

from __future__ import annotations

from ipaddress import ip_address

from stockman.model.pattern import pattern
from stockman.talos.documents import as_mapping, as_mappings, as_text, as_texts
from stockman.talos.migration.draft import ConfigDraft, EditNature, Plain, select_fields

DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")
_BOND_OPTIONS = (
    "miimon",
    "updelay",
    "downdelay",
    "useCarrier",
    "xmitHashPolicy",
    "arpInterval",
    "arpValidate",
    "arpAllTargets",
    "lacpRate",
    "failOverMac",
    "adSelect",
    "adActorSysPrio",
    "adUserPortKey",
    "primaryReselect",
    "minLinks",
    "lpInterval",
    "packetsPerSlave",
    "numPeerNotif",
    "allSlavesActive",
)


def link_fields(interface: Plain) -> Plain:
    """Return the fields of every link document: up, MTU, addresses, routes."""
    fields: Plain = {"up": True}
    if interface.get("mtu"):
        fields["mtu"] = interface["mtu"]
    addresses = as_texts(interface.get("addresses"))
    if interface.get("cidr"):
        addresses.append(as_text(interface["cidr"]))
    if addresses:
        fields["addresses"] = [{"address": _prefix(address)} for address in addresses]
    routes = [_route(route) for route in as_mappings(interface.get("routes"))]
    if routes:
        fields["routes"] = routes
    return fields


def dhcp_documents(interface: Plain, *, sends_identifier: bool) -> list[tuple[str, Plain]]:
    """Return kind and fields of the DHCP clients of a link.

    `sends_identifier`: whether clients send an identifier. By default those of documents do, and
    those of the v1alpha1 document never do.
    """
    if interface.get("dhcp") is not True:
        return []
    options = as_mapping(interface.get("dhcpOptions"))
    metric: Plain = {"routeMetric": options["routeMetric"]} if options.get("routeMetric") else {}
    anonymous: Plain = {} if sends_identifier else {"clientIdentifier": "none"}
    documents: list[tuple[str, Plain]] = []
    if options.get("ipv4") is not False:
        documents.append(("DHCPv4Config", metric | anonymous))
    if options.get("ipv6") is True:
        unique = as_text(options.get("duidv6"))
        identifier: Plain = {"clientIdentifier": "duid", "duidRaw": unique} if unique else anonymous
        documents.append(("DHCPv6Config", metric | identifier))
    return documents


def bond_fields(bond: Plain) -> Plain:
    """Return the fields of a BondConfig; unset ones are left out."""
    fields = select_fields(
        bond,
        *_BOND_OPTIONS,
        bondMode="mode",
        resendIGMP="resendIgmp",
        tlbLogicalLb="tlbDynamicLb",
        peerNotifDelay="peerNotifyDelay",
    )
    # Zero and empty mean "not set" in the v1alpha1 document, but are values in the new document.
    options = {key: value for key, value in fields.items() if value or isinstance(value, bool)}
    return {"links": as_texts(bond.get("interfaces")), **options}


def bridge_fields(bridge: Plain) -> Plain:
    """Return the fields of a BridgeConfig."""
    fields: Plain = {"links": as_texts(bridge.get("interfaces"))}
    spanning = as_mapping(bridge.get("stp")).get("enabled")
    if spanning is not None:
        fields["stp"] = {"enabled": spanning}
    filtering = as_mapping(bridge.get("vlan")).get("vlanFiltering")
    if filtering is not None:
        fields["vlan"] = {"filtering": filtering}
    return fields


def wireguard_fields(interface: Plain) -> Plain:
    """Return the fields of a WireguardConfig."""
    fields = select_fields(interface, "privateKey")
    fields |= {key: interface[key] for key in ("listenPort", "firewallMark") if interface.get(key)}
    peers = [dict(peer) for peer in as_mappings(interface.get("peers"))]
    if peers:
        fields["peers"] = peers
    return fields


def _route(route: Plain) -> Plain:
    fields: Plain = {}
    network = as_text(route.get("network"))
    # A route without a destination is the default route; 0.0.0.0/0 is refused.
    if network and not (network in DEFAULT_ROUTES and route.get("gateway")):
        fields["destination"] = network
    names = ("gateway", "source", "metric", "mtu")
    return fields | {name: route[name] for name in names if route.get(name)}


def _prefix(address: str) -> str:
    if "/" in address:
        return address
    try:
        return f"{address}/{ip_address(address).max_prefixlen}"
    except ValueError:
        return address


_PATH = "machine.network.interfaces"
_REASON = "links, addresses and routes move to link documents"
_MAC = pattern(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")


def migrate_links(draft: ConfigDraft) -> None:
    interfaces = as_mappings(draft.get(_PATH))
    if interfaces:
        _LinkMigration(draft, interfaces).move()
    if draft.get("machine.network") == {}:
        draft.take("machine.network", "it is empty", EditNature.REMOVED)


class _LinkMigration:
    """Migrates the interfaces of one configuration, except those that cannot be migrated."""

    def __init__(self, draft: ConfigDraft, interfaces: list[Plain]) -> None:
        self._draft = draft
        self._interfaces = interfaces
        self._aliases: dict[str, str] = {}
        self._taken = {name for _, name in draft.configuration}
        self._taken |= {as_text(interface.get("interface")) for interface in interfaces}

    def move(self) -> None:
        kept: list[Plain] = []
        moved: list[Plain] = []
        for interface in self._interfaces:
            why = self._find_obstacle(interface)
            (moved if why is None else kept).append(interface)
            if why is not None:
                self._keep(interface, why)
        if not moved:
            return
        self._draft.replace(_PATH, kept or None, _REASON)
        for interface in moved:
            self._migrate_interface(interface)
        if not self._draft.fragment:
            self._draft.warn_change(
                _PATH,
                "links without a document no longer get an address",
                why="with interfaces in the v1alpha1 document Talos uses DHCP on"
                " all other cards; with link documents it does not",
                fix="add a DHCPv4Config for every other card that needs an address",
            )

    def _keep(self, interface: Plain, why: str) -> None:
        name = as_text(interface.get("interface")) or "with a selector"
        self._draft.keep(
            _PATH,
            why=f"the interface {name}: {why}",
            fix="Talos still reads it there; to migrate it, write link documents by hand",
        )

    def _find_obstacle(self, interface: Plain) -> str | None:
        """Return why an interface cannot be a document; None: it can."""
        if interface.get("ignore") is True:
            return "no document can make Talos ignore a link"
        selector = as_mapping(interface.get("deviceSelector"))
        if selector and _selector_mac(selector) is None:
            return "its selector may match several links, but an alias is for one link"
        if selector and self._draft.fragment:
            return "the link alias belongs to the whole configuration, not to a patch"
        bond = as_mapping(interface.get("bond"))
        if any(
            _selector_mac(interface) is None
            for interface in as_mappings(bond.get("deviceSelectors"))
        ):
            return "its bond has selectors that may match several links"
        if bond.get("primary"):
            return "no document supports the primary link of a bond"
        if any(
            as_mapping(interface.get("vip")).get("equinixMetal")
            for interface in _interface_and_vlans(interface)
        ):
            return "no document supports virtual IPs of Equinix Metal"
        master = as_text(as_mapping(interface.get("bridgePort")).get("master"))
        if master and not any(
            interface.get("interface") == master and interface.get("bridge")
            for interface in self._interfaces
        ):
            return f"its bridge {master} is not in this configuration"
        peers = as_mappings(as_mapping(interface.get("wireguard")).get("peers"))
        if not all(_is_address_and_port(as_text(peer.get("endpoint"))) for peer in peers):
            return "the endpoint of a peer is not an address with a port"
        return None

    def _migrate_interface(self, interface: Plain) -> None:
        name = as_text(interface.get("interface"))
        if not name:
            name = self._alias_name(as_mapping(interface["deviceSelector"]))
        self._put_link(name, interface)
        for vlan in as_mappings(interface.get("vlans")):
            self._put_vlan(name, vlan)

    def _put_link(self, name: str, interface: Plain) -> None:
        kind, fields = "LinkConfig", link_fields(interface)
        if interface.get("bond") is not None:
            kind, fields = "BondConfig", self._bond_document(as_mapping(interface["bond"])) | fields
        elif interface.get("bridge") is not None:
            kind, fields = (
                "BridgeConfig",
                self._bridge_document(name, as_mapping(interface["bridge"])) | fields,
            )
        elif interface.get("wireguard") is not None:
            kind, fields = (
                "WireguardConfig",
                wireguard_fields(as_mapping(interface["wireguard"])) | fields,
            )
        elif interface.get("dummy") is True:
            kind = "DummyLinkConfig"
        self._put(kind, fields, name)
        self._put_addressing(name, interface)

    def _put_vlan(self, parent: str, vlan: Plain) -> None:
        number = vlan.get("vlanId")
        name = f"{parent}.{number}"
        self._put("VLANConfig", {"vlanID": number, "parent": parent, **link_fields(vlan)}, name)
        self._put_addressing(name, vlan)

    def _put_addressing(self, name: str, interface: Plain) -> None:
        for kind, fields in dhcp_documents(interface, sends_identifier=self._draft.adopt):
            self._put(kind, fields, name)
        virtual = as_mapping(interface.get("vip"))
        address = as_text(virtual.get("ip"))
        cloud = as_mapping(virtual.get("hcloud"))
        if cloud:
            token = {"apiToken": cloud.get("apiToken", "")}
            self._put("HCloudVIPConfig", {"link": name, **token}, address)
        elif address:
            self._put("Layer2VIPConfig", {"link": name}, address)

    def _bond_document(self, bond: Plain) -> Plain:
        fields = bond_fields(bond)
        aliases = [
            self._alias_name(interface) for interface in as_mappings(bond.get("deviceSelectors"))
        ]
        return {**fields, "links": [*as_texts(fields["links"]), *aliases]}

    def _bridge_document(self, name: str, bridge: Plain) -> Plain:
        fields = bridge_fields(bridge)
        ports = [
            as_text(interface.get("interface"))
            for interface in self._interfaces
            if as_text(as_mapping(interface.get("bridgePort")).get("master")) == name
        ]
        return {**fields, "links": [*as_texts(fields["links"]), *ports]}

    def _alias_name(self, selector: Plain) -> str:
        mac = _selector_mac(selector) or ""
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


def _interface_and_vlans(interface: Plain) -> list[Plain]:
    return [interface, *as_mappings(interface.get("vlans"))]


def _selector_mac(selector: Plain) -> str | None:
    """Return the MAC address of a selector for one card; None: it may match several."""
    if set(selector) - {"hardwareAddr", "permanentAddr", "physical"}:
        return None
    if selector.get("physical") is False:
        return None
    addresses = {as_text(selector.get(key)).lower() for key in ("hardwareAddr", "permanentAddr")}
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
