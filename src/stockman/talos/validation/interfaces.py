"""Rules of `machine.network.interfaces`, including bonds."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.talos.validation.formats import (
    base64_key_error,
    is_address,
    is_address_or_network,
    is_host_and_port,
    is_lenient_network,
)
from stockman.talos.validation.report import ConfigValue

_AGGREGATION = "802.3ad"
_BALANCED = ("balance-tlb", "balance-alb")
_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", _AGGREGATION, *_BALANCED)
_OPTION_VALUES = {
    "mode": _MODES,
    "xmitHashPolicy": ("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"),
    "lacpRate": ("slow", "fast"),
    "arpValidate": (
        "none",
        "active",
        "backup",
        "all",
        "filter",
        "filter-active",
        "filter-backup",
    ),
    "arpAllTargets": ("any", "all"),
    "primaryReselect": ("always", "better", "failure"),
    "failOverMac": ("none", "active", "follow"),
    "adSelect": ("stable", "bandwidth", "count"),
}
_ONLY_IN = {
    "lacpRate": (_AGGREGATION,),
    "adActorSysPrio": (_AGGREGATION,),
    "adUserPortKey": (_AGGREGATION,),
    "primary": ("active-backup", *_BALANCED),
    "arpValidate": ("balance-rr", "active-backup", "balance-xor", "broadcast"),
    "arpInterval": ("balance-rr", "active-backup", "balance-xor", "broadcast"),
    "packetsPerSlave": ("balance-rr",),
    "tlbDynamicLb": _BALANCED,
}
"""Options that only some modes support."""


def check_bond(bond: ConfigValue) -> None:
    """Check words, delays, and options that the mode does not support."""
    for key, values in _OPTION_VALUES.items():
        bond[key].check_word(values)
    for key in ("arpIPTarget", "adActorSystem"):
        if not bond[key].is_empty:
            _report_option(bond[key], "Talos does not support it", "remove it")
    _check_delays(bond)
    mode = bond["mode"].text or "balance-rr"
    mode = mode if mode in _MODES else "balance-rr"
    for key, modes in _ONLY_IN.items():
        if mode not in modes and _is_set(bond[key]):
            why = f"the mode is {mode}, and only {', '.join(modes)} support it"
            _report_option(bond[key], why, "remove it, or change the mode")


def _is_set(option: ConfigValue) -> bool:
    if option.path.endswith(".packetsPerSlave"):
        return option.number > 1
    return option.text not in ("", "0")


def _check_delays(bond: ConfigValue) -> None:
    interval = bond["miimon"].number
    for key in ("updelay", "downdelay"):
        delay = bond[key]
        if not interval and delay.number:
            _report_option(delay, "miimon is 0, so links are not monitored", "set miimon")
        elif interval and delay.number % interval:
            why = f"{delay.number} is not a multiple of miimon, {interval}"
            _report_option(delay, why, f"use a multiple of {interval}")


def _report_option(option: ConfigValue, why: str, fix: str) -> None:
    option.error("machine.bond", f"{option.name} cannot be used here", why=why, fix=fix)


def check_interfaces(machine: ConfigValue) -> None:
    devices = machine.down("network.interfaces").items
    for null in (device for device in devices if not device.present):
        null.error(
            "machine.null",
            f"{null.name} is null",
            why="Talos fails on an empty interface",
            fix="define the interface, or remove it",
        )
    devices = [device for device in devices if device.present]
    members = _member_owners(devices)
    for device in devices:
        if device["ignore"].flag:
            continue
        _check_selection(device)
        if device["bond"].present:
            check_bond(device["bond"])
        if device["wireguard"].present:
            _check_wireguard(device["wireguard"])
        for vlan in device["vlans"].items:
            _check_addresses(vlan)
        _check_addressing(device, members)
        for route in device["routes"].items:
            _check_route(route)


def virtual_addresses(machine: ConfigValue) -> Iterator[ConfigValue]:
    """Yield every virtual IP of the interfaces and their VLANs."""
    for device in machine.down("network.interfaces").items:
        for holder in (device, *device["vlans"].items):
            if holder["vip"].present:
                yield holder["vip"]


def _member_owners(devices: list[ConfigValue]) -> dict[str, str]:
    """Return the members of bonds and bridges, with the name of their bond or bridge."""
    owners: dict[str, str] = {}
    for device in devices:
        name = device["interface"].text
        bond, bridge = device["bond"], device["bridge"]
        if bond.present and bridge.present:
            bridge.error(
                "machine.interface",
                f"{device.name} is both a bond and a bridge",
                why="an interface can be only one of them",
                fix="define the bridge as a separate interface on the bond",
            )
        if not bond["interfaces"].is_empty and not bond["deviceSelectors"].is_empty:
            bond["deviceSelectors"].error(
                "machine.interface",
                f"{bond.name} both names and selects its members",
                why="interfaces and deviceSelectors exclude each other",
                fix="keep one of the two",
            )
        chosen = bridge if bridge.present else bond
        for member in chosen["interfaces"].items:
            if owners.setdefault(member.text, name) != name:
                member.error(
                    "machine.member",
                    f"{member.text} belongs to {owners[member.text]} and to {name}",
                    why="an interface can belong to only one bond or bridge",
                    fix="remove it from one of them",
                )
            owners[member.text] = name
    return owners


def _check_selection(device: ConfigValue) -> None:
    name, selector = device["interface"], device["deviceSelector"]
    why = ""
    if not name.text and not selector.present:
        why = "neither interface nor deviceSelector is set"
    elif name.text and selector.present:
        why = "interface and deviceSelector exclude each other"
    elif selector.present and not any(condition.text for condition in selector.entries.values()):
        why = "the selector is empty, and would match any card"
    if why:
        (selector if selector.present else device).error(
            "machine.interface",
            f"{device.name} does not select a card",
            why=why,
            fix="set `interface: eth0`, or select by hardwareAddr",
        )


def _check_addresses(holder: ConfigValue) -> None:
    cidr, addresses = holder["cidr"], holder["addresses"]
    if cidr.text and not addresses.is_empty:
        cidr.error(
            "machine.address",
            f"{holder.name} has both cidr and addresses",
            why="cidr is the older name of addresses",
            fix="move it into addresses",
        )
    for address in ([cidr] if cidr.text else []) + addresses.items:
        if not is_address_or_network(address.text):
            address.error(
                "machine.address",
                f"{address.text!r} is not an address",
                why=f"{address.name} accepts addresses with or without a prefix length",
                fix="use an address such as 10.42.0.21/24",
            )


def _check_addressing(device: ConfigValue, members: dict[str, str]) -> None:
    cidr, vip = device["cidr"], device["vip"]
    owner = members.get(device["interface"].text)
    addressed = device["dhcp"].flag or cidr.text or not device["addresses"].is_empty
    if owner is not None and (addressed or vip.present):
        device.error(
            "machine.member",
            f"{device['interface'].text} has addresses, but belongs to {owner}",
            why="addresses belong to the bond or bridge, not to its members",
            fix=f"move them to {owner}",
        )
    _check_addresses(device)
    if cidr.text:
        cidr.warn(
            "machine.deprecated",
            f"{cidr.name} is deprecated",
            why="Talos still accepts it, but a later version will not",
            fix="use addresses instead",
        )
    if vip.present and not is_address(vip["ip"].text):
        vip["ip"].error(
            "machine.address",
            f"{vip.name} has no address",
            why=f"{vip['ip'].text!r} is not an address",
            fix="set `ip:` to the virtual IP",
        )


def _check_route(route: ConfigValue) -> None:
    network, gateway = route["network"], route["gateway"]
    if not network.text and not gateway.text:
        route.error(
            "machine.route",
            f"{route.name} has no destination",
            why="a route has a network, a gateway or both",
            fix="set `network: 0.0.0.0/0` and the gateway",
        )
    for field, fits in ((network, is_lenient_network), (gateway, is_address)):
        if field.text and not fits(field.text):
            _report_route(field)
    if route["source"].text and not is_address(route["source"].text):
        _report_route(route["source"])


def _report_route(field: ConfigValue) -> None:
    expected = "a network" if field.path.endswith(".network") else "an address"
    field.error(
        "machine.route",
        f"{field.text!r} is not {expected}",
        why=f"{field.name} must be {expected}",
        fix=f"use {expected}, such as {'10.43.0.0/16' if 'net' in expected else '10.42.0.1'}",
    )


def _check_wireguard(tunnel: ConfigValue) -> None:
    check_wireguard_key(tunnel["privateKey"])
    for peer in tunnel["peers"].items:
        check_wireguard_key(peer["publicKey"])
        endpoint = peer["endpoint"]
        if endpoint.text and not is_host_and_port(endpoint.text):
            endpoint.error(
                "machine.wireguard",
                f"{endpoint.name} is not an address with a port",
                why=f"it is {endpoint.text!r}",
                fix="use the form 10.42.0.7:51820, an IPv6 address in brackets",
            )
        for allowed in peer["allowedIPs"].items:
            if not is_lenient_network(allowed.text):
                allowed.error(
                    "machine.wireguard",
                    f"{allowed.text!r} is not a network",
                    why=f"{allowed.name} accepts networks",
                    fix="use a network such as 10.43.0.0/16",
                )


def check_wireguard_key(key: ConfigValue) -> None:
    wrong = base64_key_error(key.text)
    if wrong:
        key.error(
            "machine.wireguard",
            f"{key.name} is not a WireGuard key",
            why=wrong if key.text else "it is missing",
            fix="use the 32 bytes of the key in base64, as `wg genkey` prints them",
        )
