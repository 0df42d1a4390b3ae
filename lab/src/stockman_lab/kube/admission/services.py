"""Services: addresses and ports that the server hands out."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from stockman_lab.kube.admission.draft import Draft, wrong
from stockman_lab.kube.failures import invalid
from stockman_lab.kube.objects import Object, entries_of, part_of

_NO_ADDRESS = "None"
_OUTWARD = frozenset({"NodePort", "LoadBalancer"})
_FIRST_PORT, _LAST_PORT = 30000, 32767
_STATIC = 16
"""So many addresses are never handed out: they are for those who choose."""


def prepare_service(draft: Draft) -> None:
    """Let a service have its address, and ports where they are wanted."""
    spec = draft.content["spec"]
    old = part_of(draft.old or {}, "spec")
    draft.content["status"] = (draft.old or {}).get("status") or {"loadBalancer": {}}
    if spec["type"] in {"ClusterIP", "ExternalName"} and old.get("type") in _OUTWARD:
        spec.pop("externalTrafficPolicy", None)
    if spec["type"] == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            spec.pop(name, None)
        return
    if not spec.get("clusterIP") and old.get("clusterIP") and old.get("type") != "ExternalName":
        spec["clusterIP"] = old["clusterIP"]
        spec["clusterIPs"] = old.get("clusterIPs", [old["clusterIP"]])
    _give_address(draft, spec, old)
    network = ip_network(draft.context.service_network)
    family = f"IPv{network.version}"
    if spec.get("clusterIP") == _NO_ADDRESS and not spec.get("selector"):
        other = "IPv6" if network.version == 4 else "IPv4"
        spec.setdefault("ipFamilies", [family, other])
        spec.setdefault("ipFamilyPolicy", "RequireDualStack")
    spec.setdefault("ipFamilies", [family])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    _give_ports(draft, spec, old)


def _give_address(draft: Draft, spec: Object, old: Object) -> None:
    cluster_ip = spec.get("clusterIP")
    if cluster_ip == _NO_ADDRESS:
        spec["clusterIPs"] = [_NO_ADDRESS]
        return
    if not cluster_ip:
        cluster_ip = spec["clusterIP"] = _free_address(draft)
    elif not old.get("clusterIP"):
        _check_address(draft, cluster_ip)
    spec["clusterIPs"] = [cluster_ip, *(spec.get("clusterIPs") or [])[1:]]


def _taken(draft: Draft) -> set[str]:
    services = draft.context.listed("services")
    return {part_of(service, "spec").get("clusterIP", "") for service in services}


def _free_address(draft: Draft) -> str:
    """A random address of the upper part; the lower one is for those who choose."""
    network = ip_network(draft.context.service_network)
    size, taken = network.num_addresses - 2, _taken(draft)
    begin = draft.context.dice.below(max(1, size - _STATIC))
    for step in range(size):
        address = str(network[1 + (_STATIC + begin + step) % size])
        if address not in taken:
            return address
    why = "failed to allocate IP: range is full"
    raise invalid(draft.named, draft.name, [wrong("spec.clusterIPs", [], why)])


def _check_address(draft: Draft, desired: str) -> None:
    why = ""
    if ip_address(desired) not in ip_network(draft.context.service_network):
        why = "the provided network does not match the current range"
    elif desired in _taken(draft):
        why = "provided IP is already allocated"
    if why:
        text = f"failed to allocate IP {desired}: {why}"
        raise invalid(draft.named, draft.name, [wrong("spec.clusterIPs", [desired], text)])


def _give_ports(draft: Draft, spec: Object, old: Object) -> None:
    needs_ports = spec["type"] == "NodePort" or (
        spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    )
    before = {_port_key(port): port.get("nodePort") for port in entries_of(old, "ports")}
    taken = {
        port.get("nodePort")
        for service in draft.context.listed("services")
        for port in entries_of(service, "spec", "ports")
    }
    for port in entries_of(spec, "ports"):
        if not needs_ports:
            port.pop("nodePort", None)
        elif not port.get("nodePort"):
            port["nodePort"] = before.get(_port_key(port)) or _free_port(draft, taken)
            taken.add(port["nodePort"])


def _port_key(port: Object) -> tuple[object, object]:
    return port.get("port"), port.get("protocol")


def _free_port(draft: Draft, taken: set[object]) -> int:
    count = _LAST_PORT - _FIRST_PORT + 1
    begin = draft.context.dice.below(count)
    free = (_FIRST_PORT + (begin + step) % count for step in range(count))
    return next(port for port in free if port not in taken)
