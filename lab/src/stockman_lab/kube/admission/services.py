"""Services: addresses and ports that the server hands out."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from stockman_lab.kube.admission.draft import Draft, wrong
from stockman_lab.kube.failures import invalid
from stockman_lab.kube.objects import Object, entries_of, part_of

_NO_ADDRESS = "None"
_OUTWARD = frozenset({"NodePort", "LoadBalancer"})
_FIRST_PORT, _LAST_PORT = 30000, 32767
_RANGE = f"{_FIRST_PORT}-{_LAST_PORT}"
_STATIC_LEAST, _STATIC_MOST, _STATIC_STEP = 16, 256, 16


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
    network = ip_network(draft.around.service_network)
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
    services = draft.around.listed("services")
    return {part_of(service, "spec").get("clusterIP", "") for service in services}


def _free_address(draft: Draft) -> str:
    """A random address of the upper part; the lower one is for those who choose."""
    network = ip_network(draft.around.service_network)
    size = network.num_addresses - 2
    kept = min(max(_STATIC_LEAST, size // _STATIC_STEP), _STATIC_MOST)
    taken = _taken(draft)
    for _ in range(64):
        free_address = str(network[1 + kept + draft.around.dice.below(max(1, size - kept))])
        if free_address not in taken:
            return free_address
    free_address = next((str(host) for host in network.hosts() if str(host) not in taken), "")
    if not free_address:
        text = "failed to allocate IP: range is full"
        raise invalid(draft.named, draft.name, [wrong("spec.clusterIPs", spec_of(draft), text)])
    return free_address


def spec_of(draft: Draft) -> list[str]:
    """Addresses that somebody wants."""
    return list(part_of(draft.content, "spec").get("clusterIPs") or [])


def _check_address(draft: Draft, wanted: str) -> None:
    network = ip_network(draft.around.service_network)
    field = "spec.clusterIPs"
    try:
        inside = ip_address(wanted) in network
    except ValueError:
        return
    if not inside:
        why = f"failed to allocate IP {wanted}: the provided network does not match the current"
        why = f"{why} range"
        raise invalid(draft.named, draft.name, [wrong(field, [wanted], why)])
    if wanted in _taken(draft):
        why = f"failed to allocate IP {wanted}: provided IP is already allocated"
        raise invalid(draft.named, draft.name, [wrong(field, [wanted], why)])


def _give_ports(draft: Draft, spec: Object, old: Object) -> None:
    wants = spec["type"] == "NodePort" or (
        spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    )
    ports = entries_of(spec, "ports")
    if not wants:
        if spec["type"] == "ClusterIP" and old.get("type") in {"NodePort", "LoadBalancer"}:
            for port in ports:
                port.pop("nodePort", None)
        return
    before = {
        (entry.get("port"), entry.get("protocol")): entry for entry in entries_of(old, "ports")
    }
    taken = {
        port.get("nodePort")
        for one in draft.around.listed("services")
        for port in entries_of(one, "spec", "ports")
    }
    for port in ports:
        known = before.get((port.get("port"), port.get("protocol")), {}).get("nodePort")
        if port.get("nodePort"):
            _check_port(draft, port["nodePort"], ports.index(port), old, taken)
            continue
        port["nodePort"] = known or _free_port(draft, taken)
        taken.add(port["nodePort"])


def _check_port(draft: Draft, wanted: int, place: int, old: Object, taken: set[object]) -> None:
    if wanted in {entry.get("nodePort") for entry in entries_of(old, "ports")}:
        return
    field = f"spec.ports[{place}].nodePort"
    if not _FIRST_PORT <= wanted <= _LAST_PORT:
        why = f"provided port is not in the valid range. The range of valid ports is {_RANGE}"
        raise invalid(draft.named, draft.name, [wrong(field, wanted, why)])
    if wanted in taken:
        why = "provided port is already allocated"
        raise invalid(draft.named, draft.name, [wrong(field, wanted, why)])
    taken.add(wanted)


def _free_port(draft: Draft, taken: set[object]) -> int:
    count = _LAST_PORT - _FIRST_PORT + 1
    begin = draft.around.dice.below(count)
    free = (_FIRST_PORT + (begin + step) % count for step in range(count))
    return next(port for port in free if port not in taken)
