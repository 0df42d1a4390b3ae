"""Options of an interface in the one form that a file gives back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Network

from stockman_lab.pve.formats.lists import split_list

Options = dict[str, str]
Interfaces = Mapping[str, Options]

_DOTTED = re.compile(r"(\S+)\.(\d+)")
_NUMBERED_VLAN = re.compile(r"vlan(\d+)")
_FAMILY_KEYS = {
    "inet": ("address", "netmask", "gateway"),
    "inet6": ("address6", "netmask6", "gateway6"),
}
_HASHING = ("balance-xor", "802.3ad")


def families_of(options: Options) -> list[str]:
    """The address families of an interface."""
    return options.get("families", "inet").split()


def with_addresses(options: Options) -> Options:
    """Addresses with their length split from them, as parameters may give them."""
    addresses = dict(options)
    for suffix in ("", "6"):
        cidr = addresses.pop(f"cidr{suffix}", "")
        if cidr:
            address, _, length = cidr.rpartition("/")
            addresses[f"address{suffix}"], addresses[f"netmask{suffix}"] = address, length
    return addresses


def canonical(name: str, options: Options) -> Options:
    """Options after they were written to the file and read again."""
    values = {key: value for key, value in with_addresses(options).items() if value != ""}
    for family, keys in _FAMILY_KEYS.items():
        if family not in families_of(values):
            for key in keys:
                values.pop(key, None)
    _set_cidr(values)
    values.setdefault("method", "manual")
    values.setdefault("method6", "manual")
    values.setdefault("families", "inet")
    comments = values.get("comments", "").rstrip("\n") + values.pop("comments6", "")
    values.pop("comments", None)
    if comments.strip():
        values["comments"] = "".join(f"{line}\n" for line in comments.split("\n"))
    if values.get("autostart") == "0":
        del values["autostart"]
    match values["type"]:
        case "bridge":
            _canonical_bridge(values)
        case "bond":
            _canonical_bond(values)
        case "vlan":
            _canonical_vlan(name, values)
        case _:
            pass
    return values


def ports_of(options: Options) -> list[str]:
    """Interfaces that are part of this one."""
    keys = ("bridge_ports", "ovs_ports", "slaves", "ovs_bonds")
    found = [one for key in keys for one in split_list(options.get(key, ""))]
    return [one for one in found if one != "none"]


def parent_of(name: str, options: Options) -> tuple[str, str]:
    """The interface below a VLAN, and the number of the VLAN."""
    dotted = _DOTTED.fullmatch(name)
    if dotted:
        return dotted[1], dotted[2]
    numbered = _NUMBERED_VLAN.fullmatch(name)
    number = numbered[1] if numbered else options.get("vlan-id", "")
    return options.get("vlan-raw-device", ""), number


def _set_cidr(found: Options) -> None:
    for suffix, longest in (("", "32"), ("6", "128")):
        address = found.get(f"address{suffix}")
        found.pop(f"cidr{suffix}", None)
        if address is None:
            found.pop(f"netmask{suffix}", None)
            continue
        length = _length(found.get(f"netmask{suffix}", ""))
        if length:
            found[f"netmask{suffix}"] = length
        found[f"cidr{suffix}"] = f"{address}/{length or longest}"


def _length(mask: str) -> str:
    return str(IPv4Network(f"0.0.0.0/{mask}").prefixlen) if "." in mask else mask


def _canonical_bridge(found: Options) -> None:
    found["bridge_ports"] = " ".join(sorted(set(ports_of(found))))
    found.setdefault("bridge_stp", "off")
    found.setdefault("bridge_fd", "0")
    if "bridge_vlan_aware" in found:
        found["bridge_vlan_aware"] = "1"
        found["bridge_vids"] = " ".join(split_list(found.get("bridge_vids", "2-4094")))
    else:
        found.pop("bridge_vids", None)


def _canonical_bond(found: Options) -> None:
    found["slaves"] = " ".join(sorted(set(ports_of(found))))
    found.setdefault("bond_miimon", "100")
    mode = found.setdefault("bond_mode", "balance-rr")
    if mode not in _HASHING:
        found.pop("bond_xmit_hash_policy", None)
    if mode != "active-backup":
        found.pop("bond-primary", None)


def _canonical_vlan(name: str, found: Options) -> None:
    device, number = parent_of(name, found)
    found["vlan-raw-device"], found["vlan-id"] = device, number
