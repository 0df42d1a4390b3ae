"""Parts of an interface of the v1alpha1 document as fields of link documents."""

from __future__ import annotations

from ipaddress import ip_address

from stockman.talos.migration.edit import Plain
from stockman.talos.migration.values import chosen, mapping, mappings, text, texts

DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")
_BOND = (
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


def link_fields(given: Plain) -> Plain:
    """What every link document can hold: up, MTU, addresses, routes."""
    fields: Plain = {"up": True}
    if given.get("mtu"):
        fields["mtu"] = given["mtu"]
    addresses = texts(given.get("addresses"))
    if given.get("cidr"):
        addresses.append(text(given["cidr"]))
    if addresses:
        fields["addresses"] = [{"address": _prefix(address)} for address in addresses]
    routes = [_route(route) for route in mappings(given.get("routes"))]
    if routes:
        fields["routes"] = routes
    return fields


def dhcp_documents(given: Plain, *, names_itself: bool) -> list[tuple[str, Plain]]:
    """Kind and fields of the DHCP clients of a link.

    `names_itself`: whether a client sends an identifier, which those of documents do unless told
    otherwise and those of the v1alpha1 document never do.
    """
    if given.get("dhcp") is not True:
        return []
    options = mapping(given.get("dhcpOptions"))
    metric: Plain = {"routeMetric": options["routeMetric"]} if options.get("routeMetric") else {}
    anonymous: Plain = {} if names_itself else {"clientIdentifier": "none"}
    found: list[tuple[str, Plain]] = []
    if options.get("ipv4") is not False:
        found.append(("DHCPv4Config", metric | anonymous))
    if options.get("ipv6") is True:
        unique = text(options.get("duidv6"))
        known: Plain = {"clientIdentifier": "duid", "duidRaw": unique} if unique else anonymous
        found.append(("DHCPv6Config", metric | known))
    return found


def bond_fields(bond: Plain) -> Plain:
    """The fields of a BondConfig; those that say nothing are left out."""
    fields = chosen(
        bond,
        *_BOND,
        bondMode="mode",
        resendIGMP="resendIgmp",
        tlbLogicalLb="tlbDynamicLb",
        peerNotifDelay="peerNotifyDelay",
    )
    # Zero and empty are "not set" there, and a value of their own in the document.
    said = {key: value for key, value in fields.items() if value or isinstance(value, bool)}
    return {"links": texts(bond.get("interfaces")), **said}


def bridge_fields(bridge: Plain) -> Plain:
    """The fields of a BridgeConfig."""
    fields: Plain = {"links": texts(bridge.get("interfaces"))}
    spanning = mapping(bridge.get("stp")).get("enabled")
    if spanning is not None:
        fields["stp"] = {"enabled": spanning}
    filtering = mapping(bridge.get("vlan")).get("vlanFiltering")
    if filtering is not None:
        fields["vlan"] = {"filtering": filtering}
    return fields


def wireguard_fields(given: Plain) -> Plain:
    """The fields of a WireguardConfig."""
    fields = chosen(given, "privateKey")
    fields |= {key: given[key] for key in ("listenPort", "firewallMark") if given.get(key)}
    peers = [dict(peer) for peer in mappings(given.get("peers"))]
    if peers:
        fields["peers"] = peers
    return fields


def _route(route: Plain) -> Plain:
    fields: Plain = {}
    network = text(route.get("network"))
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
