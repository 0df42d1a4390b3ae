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
from stockman.talos.validation.report import ConfigValue, ValidationReport

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


def check_bond(report: ValidationReport, bond: ConfigValue) -> None:
    """Check words, delays, and options that the mode does not support."""
    for key, values in _OPTION_VALUES.items():
        if bond[key].text and bond[key].text not in values:
            report.error(
                "machine.word",
                bond[key],
                f"{bond[key].name} is {bond[key].text!r}",
                why=f"it must be one of {', '.join(values)}",
                fix="use one of these",
            )
    for key in ("arpIPTarget", "adActorSystem"):
        if not bond[key].is_empty:
            _report_option(report, bond[key], "Talos does not support it", "remove it")
    _check_delays(report, bond)
    mode = bond["mode"].text or "balance-rr"
    mode = mode if mode in _MODES else "balance-rr"
    for key, modes in _ONLY_IN.items():
        if mode not in modes and _is_set(bond[key]):
            why = f"the mode is {mode}, and only {', '.join(modes)} support it"
            _report_option(report, bond[key], why, "remove it, or change the mode")


def _is_set(option: ConfigValue) -> bool:
    if option.path.endswith(".packetsPerSlave"):
        return option.number > 1
    return option.text not in ("", "0")


def _check_delays(report: ValidationReport, bond: ConfigValue) -> None:
    interval = bond["miimon"].number
    for key in ("updelay", "downdelay"):
        delay = bond[key]
        if not interval and delay.number:
            _report_option(report, delay, "miimon is 0, so links are not monitored", "set miimon")
        elif interval and delay.number % interval:
            why = f"{delay.number} is not a multiple of miimon, {interval}"
            _report_option(report, delay, why, f"use a multiple of {interval}")


def _report_option(report: ValidationReport, option: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.bond", option, f"{option.name} cannot be used here", why=why, fix=fix)


def check_interfaces(report: ValidationReport, machine: ConfigValue) -> None:
    devices = machine.down("network.interfaces").items
    for null in (device for device in devices if not device.present):
        report.error(
            "machine.null",
            null,
            f"{null.name} is null",
            why="Talos fails on an empty interface",
            fix="define the interface, or remove it",
        )
    devices = [device for device in devices if device.present]
    members = _member_owners(report, devices)
    for device in devices:
        if device["ignore"].flag:
            continue
        _check_selection(report, device)
        if device["bond"].present:
            check_bond(report, device["bond"])
        if device["wireguard"].present:
            _check_wireguard(report, device["wireguard"])
        for vlan in device["vlans"].items:
            _check_addresses(report, vlan)
        _check_addressing(report, device, members)
        for route in device["routes"].items:
            _check_route(report, route)


def virtual_addresses(machine: ConfigValue) -> Iterator[ConfigValue]:
    """Yield every virtual IP of the interfaces and their VLANs."""
    for device in machine.down("network.interfaces").items:
        for holder in (device, *device["vlans"].items):
            if holder["vip"].present:
                yield holder["vip"]


def _member_owners(report: ValidationReport, devices: list[ConfigValue]) -> dict[str, str]:
    """Return the members of bonds and bridges, with the name of their bond or bridge."""
    owners: dict[str, str] = {}
    for device in devices:
        name = device["interface"].text
        bond, bridge = device["bond"], device["bridge"]
        if bond.present and bridge.present:
            report.error(
                "machine.interface",
                bridge,
                f"{device.name} is both a bond and a bridge",
                why="an interface can be only one of them",
                fix="define the bridge as a separate interface on the bond",
            )
        if not bond["interfaces"].is_empty and not bond["deviceSelectors"].is_empty:
            report.error(
                "machine.interface",
                bond["deviceSelectors"],
                f"{bond.name} both names and selects its members",
                why="interfaces and deviceSelectors exclude each other",
                fix="keep one of the two",
            )
        chosen = bridge if bridge.present else bond
        for member in chosen["interfaces"].items:
            if owners.setdefault(member.text, name) != name:
                report.error(
                    "machine.member",
                    member,
                    f"{member.text} belongs to {owners[member.text]} and to {name}",
                    why="an interface can belong to only one bond or bridge",
                    fix="remove it from one of them",
                )
            owners[member.text] = name
    return owners


def _check_selection(report: ValidationReport, device: ConfigValue) -> None:
    name, selector = device["interface"], device["deviceSelector"]
    why = ""
    if not name.text and not selector.present:
        why = "neither interface nor deviceSelector is set"
    elif name.text and selector.present:
        why = "interface and deviceSelector exclude each other"
    elif selector.present and not any(condition.text for condition in selector.entries.values()):
        why = "the selector is empty, and would match any card"
    if why:
        report.error(
            "machine.interface",
            selector if selector.present else device,
            f"{device.name} does not select a card",
            why=why,
            fix="set `interface: eth0`, or select by hardwareAddr",
        )


def _check_addresses(report: ValidationReport, holder: ConfigValue) -> None:
    cidr, addresses = holder["cidr"], holder["addresses"]
    if cidr.text and not addresses.is_empty:
        report.error(
            "machine.address",
            cidr,
            f"{holder.name} has both cidr and addresses",
            why="cidr is the older name of addresses",
            fix="move it into addresses",
        )
    for address in ([cidr] if cidr.text else []) + addresses.items:
        if not is_address_or_network(address.text):
            report.error(
                "machine.address",
                address,
                f"{address.text!r} is not an address",
                why=f"{address.name} accepts addresses with or without a prefix length",
                fix="use an address such as 10.42.0.21/24",
            )


def _check_addressing(
    report: ValidationReport, device: ConfigValue, members: dict[str, str]
) -> None:
    cidr, vip = device["cidr"], device["vip"]
    owner = members.get(device["interface"].text)
    addressed = device["dhcp"].flag or cidr.text or not device["addresses"].is_empty
    if owner is not None and (addressed or vip.present):
        report.error(
            "machine.member",
            device,
            f"{device['interface'].text} has addresses, but belongs to {owner}",
            why="addresses belong to the bond or bridge, not to its members",
            fix=f"move them to {owner}",
        )
    _check_addresses(report, device)
    if cidr.text:
        report.warn(
            "machine.deprecated",
            cidr,
            f"{cidr.name} is deprecated",
            why="Talos still accepts it, but a later version will not",
            fix="use addresses instead",
            counts=True,
        )
    if vip.present and not is_address(vip["ip"].text):
        report.error(
            "machine.address",
            vip["ip"],
            f"{vip.name} has no address",
            why=f"{vip['ip'].text!r} is not an address",
            fix="set `ip:` to the virtual IP",
        )


def _check_route(report: ValidationReport, route: ConfigValue) -> None:
    network, gateway = route["network"], route["gateway"]
    if not network.text and not gateway.text:
        report.error(
            "machine.route",
            route,
            f"{route.name} has no destination",
            why="a route has a network, a gateway or both",
            fix="set `network: 0.0.0.0/0` and the gateway",
        )
    for field, fits in ((network, is_lenient_network), (gateway, is_address)):
        if field.text and not fits(field.text):
            _report_route(report, field)
    if route["source"].text and not is_address(route["source"].text):
        _report_route(report, route["source"])


def _report_route(report: ValidationReport, field: ConfigValue) -> None:
    expected = "a network" if field.path.endswith(".network") else "an address"
    report.error(
        "machine.route",
        field,
        f"{field.text!r} is not {expected}",
        why=f"{field.name} must be {expected}",
        fix=f"use {expected}, such as {'10.43.0.0/16' if 'net' in expected else '10.42.0.1'}",
    )


def _check_wireguard(report: ValidationReport, tunnel: ConfigValue) -> None:
    check_wireguard_key(report, tunnel["privateKey"])
    for peer in tunnel["peers"].items:
        check_wireguard_key(report, peer["publicKey"])
        endpoint = peer["endpoint"]
        if endpoint.text and not is_host_and_port(endpoint.text):
            report.error(
                "machine.wireguard",
                endpoint,
                f"{endpoint.name} is not an address with a port",
                why=f"it is {endpoint.text!r}",
                fix="use the form 10.42.0.7:51820, an IPv6 address in brackets",
            )
        for allowed in peer["allowedIPs"].items:
            if not is_lenient_network(allowed.text):
                report.error(
                    "machine.wireguard",
                    allowed,
                    f"{allowed.text!r} is not a network",
                    why=f"{allowed.name} accepts networks",
                    fix="use a network such as 10.43.0.0/16",
                )


def check_wireguard_key(report: ValidationReport, key: ConfigValue) -> None:
    wrong = base64_key_error(key.text)
    if wrong:
        report.error(
            "machine.wireguard",
            key,
            f"{key.name} is not a WireGuard key",
            why=wrong if key.text else "it is missing",
            fix="use the 32 bytes of the key in base64, as `wg genkey` prints them",
        )
