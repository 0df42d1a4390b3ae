"""Convert `networkInterfaces` of talhelper to the documents it generates from contract 1.12 on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from stockman.talos.machine.inputs import Document, new_document

_BOND_FIELDS = {
    "mode": "bondMode",
    "miimon": "miimon",
    "updelay": "updelay",
    "downdelay": "downdelay",
    "useCarrier": "useCarrier",
    "xmitHashPolicy": "xmitHashPolicy",
    "arpInterval": "arpInterval",
    "arpIPTarget": "arpIpTargets",
    "arpValidate": "arpValidate",
    "arpAllTargets": "arpAllTargets",
    "lacpRate": "lacpRate",
    "failOverMac": "failOverMac",
    "adSelect": "adSelect",
    "adActorSysPrio": "adActorSysPrio",
    "adUserPortKey": "adUserPortKey",
    "primaryReselect": "primaryReselect",
    "resendIgmp": "resendIGMP",
    "minLinks": "minLinks",
    "lpInterval": "lpInterval",
    "packetsPerSlave": "packetsPerSlave",
    "numPeerNotif": "numPeerNotif",
    "tlbDynamicLb": "tlbLogicalLb",
    "allSlavesActive": "allSlavesActive",
    "peerNotifyDelay": "peerNotifDelay",
}
_SELECTORS = {
    "hardwareAddr": 'glob("{}", mac(link.hardware_addr))',
    "permanentAddr": 'glob("{}", mac(link.permanent_addr))',
    "busPath": 'glob("{}", link.bus_path)',
    "driver": 'glob("{}", link.driver)',
    "pciID": 'glob("{}", link.pciid)',
}
_SPECIAL = ("bond", "wireguard", "bridge")
_DEFAULT_ROUTES = ("0.0.0.0/0", "::/0")


def device_documents(devices: list[Document]) -> list[Document]:
    """Return aliases, bonds, DHCP, virtual IPs, links, VLANs, tunnels, bridges, in this order."""
    named = _name_devices(devices)
    documents: list[Document] = [*_aliases(named)]
    for device, name in named:
        bond = _mapping(device, "bond")
        if bond:
            documents.append(
                new_document("BondConfig", name=name, **_bond(bond, name), **_common_fields(device))
            )
    for device, name in named:
        if device.get("dhcp") is True:
            documents += _dhcp(name, _mapping(device, "dhcpOptions"))
    for device, name in named:
        if address := _mapping(device, "vip").get("ip"):
            documents.append(new_document("Layer2VIPConfig", name=address, link=name))
    for device, name in named:
        common = _common_fields(device)
        if common and not any(key in device for key in _SPECIAL):
            documents.append(new_document("LinkConfig", name=name, **common))
    for device, name in named:
        for vlan in _mappings(device, "vlans"):
            documents += _vlan(vlan, name)
    for device, name in named:
        if tunnel := _mapping(device, "wireguard"):
            documents.append(
                new_document("WireguardConfig", name=name, **tunnel, **_common_fields(device))
            )
    for device, name in named:
        if bridge := _mapping(device, "bridge"):
            documents.append(
                new_document("BridgeConfig", name=name, **_bridge(bridge), **_common_fields(device))
            )
    return documents


def _name_devices(devices: list[Document]) -> list[tuple[Document, str]]:
    """Return devices with their names; a device with only a selector is named by its kind."""
    used = {str(device["interface"]) for device in devices if device.get("interface")}
    numbers = {stem: count() for stem in ("bond", "br", "wg", "ethSel")}
    pairs = []
    for device in devices:
        name = str(device.get("interface") or "")
        if not name and device.get("deviceSelector"):
            stem = next(
                (
                    stem
                    for key, stem in (("bond", "bond"), ("bridge", "br"), ("wireguard", "wg"))
                    if key in device
                ),
                "ethSel",
            )
            name = next(free for n in numbers[stem] if (free := f"{stem}{n}") not in used)
            used.add(name)
        pairs.append((device, name))
    return pairs


def _aliases(named: list[tuple[Document, str]]) -> Iterator[Document]:
    for device, name in named:
        match = _expression(_mapping(device, "deviceSelector"))
        if match:
            yield new_document("LinkAliasConfig", name=name, selector={"match": match})
    for device, name in named:
        members = _mappings(_mapping(device, "bond"), "deviceSelectors")
        for index, selector in enumerate(members):
            match = _expression(selector)
            if match:
                member = f"{name}-m{index}"
                yield new_document("LinkAliasConfig", name=member, selector={"match": match})


def _expression(selector: Document) -> str:
    conditions = [
        form.format(selector[key]) for key, form in _SELECTORS.items() if selector.get(key)
    ]
    physical = selector.get("physical")
    if isinstance(physical, bool):
        conditions.append("link.type == 1" if physical else "link.type != 1")
    return " && ".join(conditions)


def _bond(bond: Document, name: str) -> Document:
    members = len(_mappings(bond, "deviceSelectors"))
    links = [*_texts(bond, "interfaces"), *(f"{name}-m{index}" for index in range(members))]
    fields = {new: bond[old] for old, new in _BOND_FIELDS.items() if bond.get(old) not in (None, 0)}
    return {"links": links, **fields} if links else fields


def _bridge(bridge: Document) -> Document:
    fields: Document = {"links": _texts(bridge, "interfaces")}
    stp = _mapping(bridge, "stp")
    if "enabled" in stp:
        fields["stp"] = {"enabled": stp["enabled"]}
    if _mapping(bridge, "vlan").get("vlanFiltering") is True:
        fields["vlan"] = {"filtering": True}
    return fields


def _vlan(vlan: Document, parent: str) -> Iterator[Document]:
    name = f"{parent}.{vlan.get('vlanId')}"
    yield new_document(
        "VLANConfig", name=name, vlanID=vlan.get("vlanId"), parent=parent, **_common_fields(vlan)
    )
    if vlan.get("dhcp") is True:
        yield from _dhcp(name, _mapping(vlan, "dhcpOptions"))
    if address := _mapping(vlan, "vip").get("ip"):
        yield new_document("Layer2VIPConfig", name=address, link=name)


def _dhcp(name: str, options: Document) -> Iterator[Document]:
    metric = {"routeMetric": options["routeMetric"]} if options.get("routeMetric") else {}
    if options.get("ipv4") is not False:
        yield new_document("DHCPv4Config", name=name, **metric)
    if options.get("ipv6") is True:
        yield new_document("DHCPv6Config", name=name, **metric)


def _common_fields(device: Document) -> Document:
    """Return addresses, routes and MTU, which every kind of link has."""
    fields: Document = {}
    if device.get("mtu"):
        fields["mtu"] = device["mtu"]
    addresses = _texts(device, "addresses")
    if addresses:
        fields["addresses"] = [{"address": _with_prefix(address)} for address in addresses]
    routes = [_route(route) for route in _mappings(device, "routes")]
    if routes:
        fields["routes"] = routes
    return fields


def _with_prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"


def _route(route: Document) -> Document:
    fields: Document = {}
    if route.get("network") and route["network"] not in _DEFAULT_ROUTES:
        fields["destination"] = route["network"]
    for key in ("gateway", "source", "metric", "mtu"):
        if route.get(key):
            fields[key] = route[key]
    return fields


def _mapping(value: Document, key: str) -> Document:
    section = value.get(key)
    return section if isinstance(section, dict) else {}


def _mappings(value: Document, key: str) -> list[Document]:
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _texts(value: Document, key: str) -> list[str]:
    items = value.get(key)
    return [str(item) for item in items] if isinstance(items, list) else []
