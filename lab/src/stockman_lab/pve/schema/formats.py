"""Formats of one profile: named ones, their lists, and property strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema import property_formats
from stockman_lab.pve.schema.property_formats import PropertyString
from stockman_lab.pve.schema.rule import Check, bad_format, is_true
from stockman_lab.pve.schema.shape import Part, Shape

Checker = Callable[[str], str | None]
"""Returns what is wrong with a text, without the final line break; None if nothing is."""

LABEL = r"[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?"
TAG = r"[a-z0-9_][a-z0-9_\-\+\.]*"
REALM = r"[A-Za-z][A-Za-z0-9\.\-_]+"
USER = r"[^\s:/]+"
VOLUME = r"[a-z][a-z0-9\-_.]*[a-z0-9]:.+$"
CONTENT = frozenset({"images", "rootdir", "vztmpl", "iso", "backup", "snippets", "none", "import"})
BUSES = {"ide": 4, "scsi": 31, "virtio": 16, "sata": 6}
DISKS = frozenset(f"{bus}{number}" for bus, count in BUSES.items() for number in range(count))

_NOT_VALID = "value does not look like a valid "
_ID = r"[a-z][a-z0-9\-_.]*[a-z0-9]$"
_MAIL_USER = r"[\w\+\-\~]+(\.[\w\+\-\~]+)*"
_MAIL = rf"{_MAIL_USER}@[a-zA-Z0-9\-]+(\.[a-zA-Z0-9\-]+)*"
_DAY = r"(?:(?:sun|mon|fri)(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|sat(?:urday)?)"
_DAYS = rf"{_DAY}(?:\.\.{_DAY})?(?:,{_DAY}(?:\.\.{_DAY})?)*"
_NUMBERS = r"(?:\*|\d{1,4}(?:\.\.\d{1,4})?)(?:/[1-9]\d*)?(?:,(?:\*|\d{1,4}(?:\.\.\d{1,4})?))*"
_DATE = rf"{_NUMBERS}-{_NUMBERS}(?:-{_NUMBERS})?"
_TIME = rf"{_NUMBERS}(?::{_NUMBERS}){{0,2}}"
_EVERY = "minutely|hourly|daily|weekly|monthly|quarterly|semiannually|semi-annually|yearly|annually"
_EVENT = (
    rf"\s*(?:{_EVERY}|{_DAYS}|(?:{_DAYS}\s+)?(?:{_DATE}\s+)?(?:{_TIME}|{_DATE}))(?:\s+UTC)?\s*$"
)

_PATTERNS: dict[str, tuple[str, str]] = {
    "disk-size": (r"\d+(\.\d+)?(?-i:[KMGT](?:iB)?)?$", f"{_NOT_VALID}disk size: {{}}"),
    "dns-name": (rf"({LABEL}\.)*{LABEL}$", f"{_NOT_VALID}DNS name"),
    "email": (f"{_MAIL}$", f"{_NOT_VALID}email address"),
    "email-or-username": (f"(?:{_MAIL}|{_MAIL_USER})$", f"{_NOT_VALID}email address or user name"),
    "mac-addr": (r"[a-f0-9][02468ace](?::[a-f0-9]{2}){5}$", f"{_NOT_VALID}unicast MAC address"),
    "mac-prefix": (
        r"[a-f0-9][02468ace](?::[a-f0-9]{2}){0,2}(?::[a-f0-9]?)?$",
        "value is not a valid unicast MAC address prefix",
    ),
    "pve-bridge-id": (r"[-_.\w\d]+$", "invalid bridge ID '{}'"),
    "pve-calendar-event": (
        _EVENT,
        "invalid calendar event '{}' - unable to parse calendar event '{}'",
    ),
    "pve-configid": (r"[a-z][a-z0-9_-]+$", "invalid configuration ID '{}'"),
    "pve-cpuset": (r"(?:\d+(?:-\d+)?(?:,|$))*$", "unable to parse cpuset option"),
    "pve-ct-timezone": (
        r"(?:host|UTC|[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_-]+){1,2})$",
        "invalid time zone '{}'",
    ),
    "pve-day-of-week": (r"(mon|tue|wed|thu|fri|sat|sun)$", "invalid day '{}'"),
    "pve-groupid": (r"[A-Za-z0-9\.\-_]+$", "group name '{}' contains invalid characters"),
    "pve-ha-group-node": (rf"{LABEL}(:\d+)?$", f"{_NOT_VALID}ha group node"),
    "pve-ha-node": (rf"{LABEL}(:\d+)?$", f"{_NOT_VALID}ha node"),
    "pve-ha-resource-id": (r"[a-z]+:\S+$", f"{_NOT_VALID}ha resource id"),
    "pve-ha-resource-or-vm-id": (r"([a-z]+:\S+|\d+)$", f"{_NOT_VALID}ha resource id"),
    "pve-iface": (
        r"[a-z][a-z0-9_]{1,20}([:\.]\d+)?$",
        "invalid network interface name '{}'",
    ),
    "pve-lxc-dev-string": (r"/dev/(?!.*\.\.)", "{} is not a valid device path"),
    "pve-lxc-mp-string": (
        r"(?!.*/\.\.?(?:/|$))(?!\.\./)",
        "{} contains illegal character sequences",
    ),
    "pve-node": (f"{LABEL}$", f"{_NOT_VALID}node name"),
    "pve-phys-bits": (
        r"(?:host|[89]|[1-5]\d|6[0-4])$",
        "value must be an integer between 8 and 64 or 'host'",
    ),
    "pve-realm": (f"{REALM}$", f"{_NOT_VALID}realm"),
    "pve-replication-job-id": (r"[1-9]\d{2,}-\d+$", "invalid replication job id '{}'"),
    "pve-roleid": (r"[A-Za-z0-9\.\-_]+$", "role name '{}' contains invalid characters"),
    "pve-startup-order": (
        r"(?:(?:(?:order=)?\d+|up=\d+|down=\d+)(?:,|$))+$",
        "unable to parse startup options",
    ),
    "pve-storage-options": (r"\S+$", "invalid options '{}'"),
    "pve-storage-path": (r"/[^;\(\)]+", f"{_NOT_VALID}absolute path"),
    "pve-storage-vgname": (_ID, "lvm name '{}' contains illegal characters"),
    "pve-tag": (f"{TAG}$", "invalid characters in tag"),
    "pve-task-status-type": (r"(ok|error|warning|unknown)$", "invalid status '{}'"),
    "pve-tokenid": (
        rf"{USER}@{REALM}!{REALM}$",
        "value '{}' does not look like a valid token ID",
    ),
    "pve-vmid": (r"[1-9][0-9]{2,8}$", f"{_NOT_VALID}VM ID"),
    "pve-volume-id": (VOLUME, "unable to parse volume ID '{}'"),
    "pve-volume-id-or-absolute-path": (rf"/|{VOLUME}", "unable to parse volume ID '{}'"),
    "pve-volume-id-or-qm-path": (
        rf"(?:none|cdrom)$|/|{VOLUME}",
        "unable to parse volume ID '{}'",
    ),
    "urlencoded": (r"[-%a-zA-Z0-9_.!~*'()]*$", "invalid urlencoded string: {}"),
}
"""A pattern that starts the text, without regard to case, and the message if it does not match."""

_PRIVILEGES = """
Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit
Group.Allocate Mapping.Audit Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate
Pool.Audit Realm.Allocate Realm.AllocateUser SDN.Allocate SDN.Audit SDN.Use Sys.AccessNetwork
Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog User.Modify VM.Allocate
VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk
VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.Migrate
VM.PowerMgmt VM.Snapshot VM.Snapshot.Rollback
"""
_PRIVILEGES_BY_PROFILE = {
    "8.4": "VM.Monitor",
    "9.1": "VM.GuestAgent.Audit VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt"
    " VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted VM.Replicate",
}


def like(pattern: str, problem: str) -> Checker:
    """Check a pattern; `{}` in the problem stands for the text."""

    def check(text: str) -> str | None:
        return None if re.match(pattern, text, re.IGNORECASE) else problem.replace("{}", text)

    return check


def one_of(values: frozenset[str], problem: str) -> Checker:
    return lambda text: None if text in values else problem.replace("{}", text)


def is_ip(text: str, version: int = 0) -> bool:
    """Whether a text is an address without a zone, of one version or of any."""
    classes = {4: (IPv4Address,), 6: (IPv6Address,)}.get(version, (IPv4Address, IPv6Address))
    for address_class in classes:
        try:
            address_class(text)
        except AddressValueError:
            continue
        return "%" not in text
    return False


def is_cidr(text: str, version: int = 0) -> bool:
    """Whether a text is an address with a prefix of at least 8."""
    address, _, prefix = text.partition("/")
    widths = {4: 32, 6: 128}
    return is_ip(address, version) and any(
        prefix.isdecimal() and 7 < int(prefix[:9]) <= width
        for known, width in widths.items()
        if version in (0, known) and is_ip(address, known)
    )


def _address(name: str, accepts: Callable[[str], bool], *words: str) -> Checker:
    return lambda text: None if text in words or accepts(text) else f"{_NOT_VALID}{name}"


def _is_host(text: str) -> bool:
    return text != "0" and (is_ip(text) or re.match(rf"({LABEL}\.)*{LABEL}$", text) is not None)


def identifier(what: str, profile: str) -> Checker:
    """Check identifiers such as those of storages."""

    def check(text: str) -> str | None:
        if len(text) < 2 and profile != "8.4":
            return f"{what} ID '{text}' cannot be shorter than 2 characters"
        if re.match(_ID, text, re.IGNORECASE):
            return None
        return f"{what} ID '{text}' contains illegal characters"

    return check


def user_id(text: str) -> str | None:
    text = "" if text == "0" else text
    if len(text) < 3:
        return f"user name '{text}' is too short"
    if len(text) > 64:
        return f"user name '{text}' is too long ({len(text)} > 64)"
    if re.match(rf"{USER}@{REALM}$", text):
        return None
    return f"value '{text}' does not look like a valid user name"


def pool_id(text: str) -> str | None:
    if len(text.rstrip("/").split("/")) > 3:
        return f"pool name '{text}' nested too deeply (max levels = 3)"
    if re.match(r"[A-Za-z0-9\.\-_]+(?:/[A-Za-z0-9\.\-_]+){0,2}$", text):
        return None
    return f"pool name '{text}' contains invalid characters"


def vlan_or_range(text: str) -> str | None:
    """`5` or `10-20`, within 2 and 4094."""
    match = re.match(r"([0-9]{1,4})(?:-([0-9]{1,4}))?$", text)
    if match is None:
        return f"invalid VLAN configuration '{text}'"
    tags = [int(tag) for tag in match.groups() if tag]
    if tags != sorted(set(tags)) or not all(2 <= tag <= 4094 for tag in tags):
        return f"invalid VLAN tag '{text}'"
    return None


def folder_override(text: str) -> str | None:
    """`iso=my/folder`."""
    content, _, path = text.partition("=")
    if content in CONTENT and path and ".." not in path and len(path) < 1023:
        return None
    return f"invalid override '{text}'"


def hotplug_features(text: str) -> str | None:
    """`0`, `1`, or features."""
    if text in {"0", "1"}:
        return None
    known = ("network", "disk", "cpu", "memory", "usb", "cloudinit")
    wrong = next((name for name in split_list(text) if name not in known), None)
    return None if wrong is None else f"invalid hotplug feature '{wrong}'"


def pairs(check_id: Checker) -> Checker:
    """Check a mapping of which each entry is `1`, `target` or `source:target`."""

    def check(text: str) -> str | None:
        for entry in split_list(text) if is_true(text) else ():
            names = entry.split(":", 1) if entry != "1" else []
            for name in names:
                if (problem := check_id(name)) is not None:
                    return f"entry '{entry}' contains invalid ID - {problem}\n\n"
        return None

    return check


def checkers(profile: str) -> dict[str, Checker]:
    """All named formats of single values."""
    storage = identifier("storage", profile)
    bridge = like(*_PATTERNS["pve-bridge-id"])
    boot_devices = DISKS | {
        f"{name}{number}"
        for name, count in (("net", 32), ("usb", 14), ("hostpci", 16))
        for number in range(count)
    }
    privileges = frozenset(f"{_PRIVILEGES} {_PRIVILEGES_BY_PROFILE[profile]}".split())
    return {name: like(*pattern) for name, pattern in _PATTERNS.items()} | {
        "string": lambda text: None,
        "address": lambda text: None if _is_host(text) else f"{_NOT_VALID}address: {text}",
        "bridge-pair": pairs(bridge),
        "CIDR": _address("CIDR network", is_cidr),
        "CIDRv4": _address("IPv4 CIDR network", lambda text: is_cidr(text, 4)),
        "CIDRv6": _address("IPv6 CIDR network", lambda text: is_cidr(text, 6)),
        "ip": _address("IP address", is_ip),
        "ipv4": _address("IPv4 address", lambda text: is_ip(text, 4)),
        "ipv6": _address("IPv6 address", lambda text: is_ip(text, 6)),
        "pve-dir-override": folder_override,
        "pve-hotplug-features": hotplug_features,
        "pve-ipv4-config": _address(
            "ipv4 network configuration", lambda text: is_cidr(text, 4), "dhcp", "manual"
        ),
        "pve-ipv6-config": _address(
            "ipv6 network configuration", lambda text: is_cidr(text, 6), "auto", "dhcp", "manual"
        ),
        "pve-poolid": pool_id,
        "pve-priv": one_of(privileges, "invalid privilege '{}'"),
        "pve-qm-bootdev": one_of(frozenset(boot_devices), "invalid boot device '{}'"),
        "pve-qm-bootdisk": one_of(DISKS | {"efidisk0", "tpmstate0"}, "invalid boot disk '{}'"),
        "pve-storage-content": one_of(CONTENT, "invalid content type '{}'"),
        "pve-storage-id": storage,
        "pve-storage-server": _address("server name or IP address", _is_host),
        "pve-userid": user_id,
        "pve-vlan-id-or-range": vlan_or_range,
        "storage-pair": pairs(storage),
    }


class Formats:
    """What the formats of one profile demand."""

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._checkers = checkers(profile)
        self._keys = property_formats.keys(profile)
        self._checks: dict[str, Check] = {}

    def check(self, shape: Shape) -> Check | None:
        """The check of a shape's format; None when it has none, or one that is not checked."""
        if shape.keys is not None:
            return _spoken(self._property_string(shape.keys).problem)
        if shape.form and self.is_known(shape.form):
            check = self._checks.get(shape.form)
            if check is None:
                check = self._checks[shape.form] = _spoken(self._named(shape.form))
            return check
        return None

    def is_known(self, form: str) -> bool:
        """Whether values of a named format are checked."""
        name = _base(form)
        return name in self._checkers or name in self._keys

    def _named(self, form: str) -> Check:
        if form in self._keys:
            return self._property_string(self._keys[form], form).problem
        checker = self._checkers[_base(form)]
        if form.endswith("-list"):
            return _each(checker)
        if form.endswith("-opt"):
            return lambda text, path: _ended(checker(text)) if is_true(text) else None
        return lambda text, path: _ended(checker(text))

    def _property_string(self, keys: Mapping[str, Part], form: str = "") -> PropertyString:
        return PropertyString(
            keys, self.check, self._profile, property_formats.VALIDATORS.get(form)
        )


@cache
def formats_of(profile: str) -> Formats:
    """The formats of a profile."""
    return Formats(profile)


def _base(form: str) -> str:
    return form.removesuffix("-list").removesuffix("-opt")


def _each(checker: Checker) -> Check:
    def check(text: str, path: str) -> str | None:
        del path
        for item in split_list(text):
            if (problem := checker(item)) is not None:
                return f"{problem}\n"
        return None

    return check


def _ended(problem: str | None) -> str | None:
    return None if problem is None else f"{problem}\n"


def _spoken(check: Check) -> Check:
    def spoken(text: str, path: str) -> str | None:
        problem = check(text, path)
        return None if problem is None else bad_format(problem)

    return spoken
