"""`networkInterfaces` of talhelper as the documents that it makes of them from contract 1.12 on."""

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
    """Aliases, bonds, DHCP, virtual addresses, links, VLANs, tunnels and bridges, in this order."""
    named = _name_devices(devices)
    made: list[Document] = [*_aliases(named)]
    for device, name in named:
        bond = _mapping(device, "bond")
        if bond:
            made.append(
                new_document("BondConfig", name=name, **_bond(bond, name), **_common_fields(device))
            )
    for device, name in named:
        if device.get("dhcp") is True:
            made += _dhcp(name, _mapping(device, "dhcpOptions"))
    for device, name in named:
        if address := _mapping(device, "vip").get("ip"):
            made.append(new_document("Layer2VIPConfig", name=address, link=name))
    for device, name in named:
        common = _common_fields(device)
        if common and not any(key in device for key in _SPECIAL):
            made.append(new_document("LinkConfig", name=name, **common))
    for device, name in named:
        for vlan in _mappings(device, "vlans"):
            made += _vlan(vlan, name)
    for device, name in named:
        if tunnel := _mapping(device, "wireguard"):
            made.append(
                new_document("WireguardConfig", name=name, **tunnel, **_common_fields(device))
            )
    for device, name in named:
        if bridge := _mapping(device, "bridge"):
            made.append(
                new_document("BridgeConfig", name=name, **_bridge(bridge), **_common_fields(device))
            )
    return made


def _name_devices(devices: list[Document]) -> list[tuple[Document, str]]:
    """Devices with their names; one that has a selector only gets a name by its kind."""
    used = {str(one["interface"]) for one in devices if one.get("interface")}
    numbers = {stem: count() for stem in ("bond", "br", "wg", "ethSel")}
    named = []
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
            name = next(one for n in numbers[stem] if (one := f"{stem}{n}") not in used)
            used.add(name)
        named.append((device, name))
    return named


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
    parts = [form.format(selector[key]) for key, form in _SELECTORS.items() if selector.get(key)]
    physical = selector.get("physical")
    if isinstance(physical, bool):
        parts.append("link.type == 1" if physical else "link.type != 1")
    return " && ".join(parts)


def _bond(bond: Document, name: str) -> Document:
    members = len(_mappings(bond, "deviceSelectors"))
    links = [*_texts(bond, "interfaces"), *(f"{name}-m{index}" for index in range(members))]
    fields = {new: bond[old] for old, new in _BOND_FIELDS.items() if bond.get(old) not in (None, 0)}
    return {"links": links, **fields} if links else fields


def _bridge(bridge: Document) -> Document:
    made: Document = {"links": _texts(bridge, "interfaces")}
    stp = _mapping(bridge, "stp")
    if "enabled" in stp:
        made["stp"] = {"enabled": stp["enabled"]}
    if _mapping(bridge, "vlan").get("vlanFiltering") is True:
        made["vlan"] = {"filtering": True}
    return made


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
    """Addresses, routes and MTU, which every kind of link has."""
    found: Document = {}
    if device.get("mtu"):
        found["mtu"] = device["mtu"]
    addresses = _texts(device, "addresses")
    if addresses:
        found["addresses"] = [{"address": _with_prefix(one)} for one in addresses]
    routes = [_route(one) for one in _mappings(device, "routes")]
    if routes:
        found["routes"] = routes
    return found


def _with_prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"


def _route(route: Document) -> Document:
    found: Document = {}
    if route.get("network") and route["network"] not in _DEFAULT_ROUTES:
        found["destination"] = route["network"]
    for key in ("gateway", "source", "metric", "mtu"):
        if route.get(key):
            found[key] = route[key]
    return found


def _mapping(value: Document, key: str) -> Document:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _mappings(value: Document, key: str) -> list[Document]:
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _texts(value: Document, key: str) -> list[str]:
    found = value.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []
