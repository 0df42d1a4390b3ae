"""What the kernel's arguments say of the network and of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_interface

from stockman_lab.talos.config.link_setting import (
    BondSetting,
    DhcpSetting,
    LinkSetting,
    RouteSetting,
)

_DHCP = "dhcp"
_DEFAULT_MEMBERS = ("eth0", "eth1")
_BOND_OPTIONS = {
    "miimon": "miimon",
    "updelay": "updelay",
    "downdelay": "downdelay",
    "xmit_hash_policy": "xmitHashPolicy",
    "lacp_rate": "lacpRate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmdline:
    """Arguments that Talos reads."""

    hostname: str = ""
    links: tuple[LinkSetting, ...] = ()
    """A link without a name is the first one in order of names."""
    nameservers: tuple[str, ...] = ()
    time_servers: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """Links that are left alone."""
    config_url: str = ""
    platform: str = ""
    predictable_names: bool = True
    """False: `eth0` and so on, as nocloud images have it."""


def cmdline(arguments: str | Iterable[str]) -> Cmdline:
    """What a kernel's arguments say; as in Talos, one that is no network drops all of those."""
    words = arguments.split() if isinstance(arguments, str) else list(arguments)
    pairs = [word.partition("=")[::2] for word in words]

    def told(name: str) -> list[str]:
        return [value for key, value in pairs if key == name]

    def first(name: str) -> str:
        return next(iter(told(name)), "")

    cmdline = Cmdline(
        hostname=first("talos.hostname"),
        ignored=tuple(told("talos.network.interface.ignore")),
        config_url=first("talos.config"),
        platform=first("talos.platform"),
        predictable_names="0" not in told("net.ifnames"),
    )
    try:
        for value in told("ip"):
            cmdline = _add_address(cmdline, value)
        links = [*cmdline.links, *_bond_links(first("bond"))]
        return replace(cmdline, links=tuple(_add_vlan(links, first("vlan"))))
    except ValueError:
        return replace(cmdline, links=())


def _fields(value: str) -> list[str]:
    """Parts between colons; addresses of IPv6 stand in brackets."""
    parts, inside = [""], 0
    for character in value:
        inside += {"[": 1, "]": -1}.get(character, 0)
        if character == ":" and not inside:
            parts.append("")
        else:
            parts[-1] += character
    return [section.strip("[]") for section in parts]


def _add_address(cmdline: Cmdline, value: str) -> Cmdline:
    fields = _fields(value)
    if fields == [_DHCP]:
        return cmdline
    if len(fields) == 2 and fields[1] == _DHCP:
        link = LinkSetting(name=fields[0], dhcp4=DhcpSetting())
        return replace(cmdline, links=(*cmdline.links, link))
    fields += [""] * (10 - len(fields))
    address, _, gateway, mask, hostname, device, how = fields[:7]
    link = LinkSetting(
        name=device,
        addresses=(_interface(address, mask),) if address else (),
        routes=(RouteSetting(gateway=str(ip_address(gateway))),) if gateway else (),
        dhcp4=DhcpSetting() if how == _DHCP else None,
    )
    return replace(
        cmdline,
        links=(*cmdline.links, link),
        hostname=cmdline.hostname or hostname,
        nameservers=(
            *cmdline.nameservers,
            *(str(ip_address(field)) for field in fields[7:9] if field),
        ),
        time_servers=(
            *cmdline.time_servers,
            *(str(ip_address(field)) for field in fields[9:10] if field),
        ),
    )


def _interface(address: str, mask: str) -> str:
    found = ip_interface(f"{address}/{mask}" if mask else address)
    return f"{found.ip}/{found.network.prefixlen}"


def _bond_links(value: str) -> Iterator[LinkSetting]:
    if not value:
        return
    name, members, options, mtu, *_ = [*value.split(":"), "", "", ""]
    values = dict(option.partition("=")[::2] for option in options.split(",") if option)
    yield LinkSetting(
        name=name,
        kind="bond",
        mtu=int(mtu or 0),
        bond=BondSetting(
            mode=values.get("mode", "balance-rr"),
            members=tuple(members.split(",")) if members else _DEFAULT_MEMBERS,
        ),
    )


def _add_vlan(links: list[LinkSetting], value: str) -> Iterator[LinkSetting]:
    """The links, where one may become a VLAN, or a VLAN is added."""
    name, _, parent = value.partition(":")
    number = name.partition(".")[2] or name.removeprefix("vlan")
    if not value:
        yield from links
        return
    tagged = f"{parent}.{int(number)}"
    was = next((link for link in links if link.name == tagged), LinkSetting(name=tagged))
    yield from (link for link in links if link.name != tagged)
    yield replace(was, kind="vlan", parent=parent, vlan=int(number))
