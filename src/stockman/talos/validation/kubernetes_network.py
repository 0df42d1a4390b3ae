"""Rules of KubeNetworkConfig: networks of pods and services."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_interface

from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

_LEAST_HOST_BITS = 4
_MOST_SERVICE_BITS = 20
_MOST_NODES_BITS = 16
_MASKS = {4: ("nodeCIDRMaskSizeIPv4", 32, 24), 6: ("nodeCIDRMaskSizeIPv6", 128, 64)}


def check_kube_network(report: Report, document: Part) -> None:
    for key, most, _ in _MASKS.values():
        mask = document[key]
        if not 0 <= mask.number <= most:
            report.error(
                "machine.range",
                mask,
                f"{mask.name} is {mask.number}",
                why=f"lengths of networks are 1 to {most}",
                fix="leave it out",
            )
    pods, services = document["podSubnets"], document["serviceSubnets"]
    _check(report, pods, lambda bits, version: _pod_fault(document, bits, version))
    _check(report, services, _service_fault)
    if len(pods.items) != len(services.items):
        _complain(report, services, "pods and services have networks of the same families")


def _check(report: Report, subnets: Part, fault: Callable[[int, int], str]) -> None:
    found = subnets.items
    if not 1 <= len(found) <= 2:
        _complain(report, subnets, "there is one network, or one of each family")
        return
    versions = []
    for subnet in found:
        why = _fault(subnet, fault)
        if why:
            _complain(report, subnet, why)
            return
        versions.append(ip_interface(subnet.text).version)
    if len(set(versions)) != len(versions):
        _complain(report, subnets, "two networks are of two families")


def _fault(subnet: Part, fault: Callable[[int, int], str]) -> str:
    if not subnet.text:
        return "it is empty"
    interface = ip_interface(subnet.text)
    bits = interface.network.prefixlen
    if interface.ip != interface.network.network_address:
        return f"{subnet.text} is an address in {interface.network}, not a network"
    if interface.max_prefixlen - bits < _LEAST_HOST_BITS:
        return f"{subnet.text} has too few addresses"
    return fault(bits, interface.version)


def _pod_fault(document: Part, bits: int, version: int) -> str:
    key, most, usual = _MASKS[version]
    told = document[key].number
    if not 0 <= told <= most:
        return ""
    mask = told or usual
    if bits > mask:
        return f"it is smaller than the /{mask} that every node gets"
    if mask - bits > _MOST_NODES_BITS:
        return f"it is too large for nodes that get a /{mask}: at most {_MOST_NODES_BITS} bits more"
    return ""


def _service_fault(bits: int, version: int) -> str:
    host_bits = (32 if version == 4 else 128) - bits
    return "it is larger than Kubernetes takes" if host_bits > _MOST_SERVICE_BITS else ""


def _complain(report: Report, part: Part, why: str) -> None:
    report.error(
        "machine.subnet",
        part,
        f"{part.name} is not what Kubernetes takes",
        why=why,
        fix="write networks such as 10.42.0.0/16 and 10.43.0.0/16: `cluster_pod_cidr` and"
        " `cluster_svc_cidr`",
    )
