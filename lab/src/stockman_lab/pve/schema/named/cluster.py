"""Formats of high availability, replication, backup jobs, networks of the cluster, certificates."""

from __future__ import annotations

import re

from stockman_lab.pve.schema.named.calendar import calendar_event
from stockman_lab.pve.schema.named.checker import Checker, like
from stockman_lab.pve.schema.named.names import LABEL
from stockman_lab.pve.schema.named.network import is_cidr4, is_cidr6

_JOB = re.compile(r"(\d{1,300})-\d+$")
_NO_HA = "value does not look like a valid ha "
_ACME = r"[a-z0-9{}][a-z0-9_-]*"
_TARGET = re.compile(r"(\d{1,20}):(\d{1,20})$")
_PEM = re.compile(
    r"\s*-----BEGIN (?P<label>[A-Z ]*)-----\s*"
    r"(?:[0-9A-Za-z+/]+\s*\n)*[0-9A-Za-z+/]*={0,2}\s*\n-----END (?P=label)-----\s*"
)
_NO_PEM = "not a valid PEM-formatted string."


def replication_job(text: str) -> str | None:
    """`100-0`: guest and number."""
    match = _JOB.match(text)
    if match is None:
        return f"invalid replication job id '{text}'"
    if int(match[1]) < 100:
        return f"invalid replication job id '{text}' (guest IDs < 100 are reserved)"
    return None


def route_target(text: str) -> str | None:
    """`65000:1`, each within 32 bits."""
    match = _TARGET.match(text)
    if match and all(int(number) <= 0xFFFFFFFF for number in match.groups()):
        return None
    return "value does not look like a valid bgp route-target"


def subnet_id(text: str) -> str | None:
    """A network, or `zone-address-prefix`."""
    _, address, mask = (*text.split("-"), "", "", "")[:3]
    network = text if "/" in text else f"{address}/{mask}"
    if is_cidr4(network) or is_cidr6(network):
        return None
    return "value does not look like a valid CIDR network"


def pem(text: str, *, several: bool, certificates: bool) -> str | None:
    """What is wrong with a PEM text."""
    start = text.find("-----BEGIN ")
    end, count = max(start, 0), 0
    while match := _PEM.match(text, end):
        if certificates and match["label"] != "CERTIFICATE":
            return _NO_PEM
        end, count = match.end(), count + 1
    fits = end == len(text) and (count >= 1 if several else count == 1)
    return None if fits else _NO_PEM


def _sdn_id(what: str, pattern: str, longest: int | None = None) -> Checker:
    matches = re.compile(pattern, re.IGNORECASE).match

    def check(text: str) -> str | None:
        if not matches(text):
            return f"{what} ID '{text}' contains illegal characters"
        if longest is not None and len(text) > longest:
            return f"{what} ID '{text}' can't be more length than {longest} characters"
        return None

    return check


def checkers() -> dict[str, Checker]:
    """The checkers of cluster-wide things, by format."""
    plain = r"[a-z][a-z0-9]*[a-z0-9]$"
    return {
        "pve-ha-resource-id": like(r"[a-z]+:\S+$", f"{_NO_HA}resource id"),
        "pve-ha-resource-or-vm-id": like(r"([a-z]+:\S+|\d+)$", f"{_NO_HA}resource id"),
        "pve-ha-node": like(rf"{LABEL}(:\d+)?$", f"{_NO_HA}node"),
        "pve-ha-group-node": like(rf"{LABEL}(:\d+)?$", f"{_NO_HA}group node"),
        "pve-replication-job-id": replication_job,
        "pve-calendar-event": calendar_event,
        "pve-day-of-week": like(r"(mon|tue|wed|thu|fri|sat|sun)$", "invalid day '{}'"),
        "pve-acme-domain": like(
            rf"{_ACME.format('')}(?:\.{_ACME.format('')})+$",
            "value '{}' does not look like a valid domain name!",
            ignore_case=True,
        ),
        "pve-acme-alias": like(
            rf"{_ACME.format('_')}(?:\.{_ACME.format('_')})+$",
            "value '{}' does not look like a valid alias name!",
            ignore_case=True,
        ),
        "pem-certificate": lambda text: pem(text, several=False, certificates=True),
        "pem-certificate-chain": lambda text: pem(text, several=True, certificates=True),
        "pem-string": lambda text: pem(text, several=False, certificates=False),
        "pve-sdn-zone-id": _sdn_id("zone", plain, 8),
        "pve-sdn-vnet-id": _sdn_id("vnet", plain, 8),
        "pve-sdn-controller-id": _sdn_id("controller", r"[a-z][a-z0-9_-]*[a-z0-9]$", 64),
        "pve-sdn-dns-id": _sdn_id("dns", plain),
        "pve-sdn-ipam-id": _sdn_id("ipam", plain),
        "pve-sdn-fabric-id": _sdn_id("Fabric", r"[a-z0-9][a-z0-9-]{0,6}[a-z0-9]?$"),
        "pve-sdn-subnet-id": subnet_id,
        "pve-sdn-bgp-rt": route_target,
        "pve-sdn-isis-net": like(
            r"[a-fA-F0-9]{2}(\.[a-fA-F0-9]{4}){3,9}\.[a-fA-F0-9]{2}$",
            "value does not look like a valid isis net",
        ),
    }
