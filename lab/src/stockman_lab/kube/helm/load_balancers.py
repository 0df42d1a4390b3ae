"""Addresses of Services of type LoadBalancer, as LB IPAM of Cilium assigns them.

Source: https://docs.cilium.io/en/stable/network/lb-ipam/.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_ready, purposes

_GROUP = "cilium.io"
_POOLS = f"ciliumloadbalancerippools.{_GROUP}"
_REQUESTED = "lbipam.cilium.io/ips"
_ALL = "*"
_LARGEST_BLOCK = 65_536
"""Addresses of a block that are considered."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class LoadBalancers(Controller):
    """Gives each Service the addresses that it requests, or the first free one of a pool."""

    name = "load-balancers"
    component = "cilium-operator-lb-ipam"
    watches = ("services", "pods", _POOLS)

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """All Services after any change that could free or bring an address."""
        if change.key.resource == "pods" and "load-balancers" not in purposes(change.newest):
            return ()
        return (_ALL,)

    def sync(self, key: str) -> None:
        """Assign addresses to the Services that have none."""
        pods = self.objects.listed("pods")
        if not any("load-balancers" in purposes(pod) and is_ready(pod) for pod in pods):
            return
        services = [service for service in self.objects.listed("services") if _is_balanced(service)]
        used = {address for service in services for address in _assigned(service)}
        for service in services:
            if not _assigned(service):
                addresses = list(self._choose(service, used))
                used.update(addresses)
                self._assign(service, addresses)

    def _choose(self, service: Object, used: set[str]) -> Iterator[str]:
        annotations = metadata_of(service).get("annotations") or {}
        requested = str(annotations.get(_REQUESTED, "")).replace(" ", "")
        pooled = (str(address) for address in self._pooled())
        if requested:
            wanted = requested.split(",")
            available = set(pooled)
            yield from (address for address in wanted if address in available - used)
            return
        yield from [address for address in pooled if address not in used][:1]

    def _pooled(self) -> Iterator[Address]:
        for pool in self.objects.listed("ciliumloadbalancerippools", group=_GROUP):
            if not part_of(pool, "spec").get("disabled"):
                for block in entries_of(pool, "spec", "blocks"):
                    yield from _block_addresses(block)

    def _assign(self, service: Object, addresses: list[str]) -> None:
        if addresses:
            ingress = [{"ip": address, "ipMode": "VIP"} for address in addresses]
            status = {**part_of(service, "status"), "loadBalancer": {"ingress": ingress}}
            self.client.update_status(service, status)


def _is_balanced(service: Object) -> bool:
    return part_of(service, "spec").get("type") == "LoadBalancer"


def _assigned(service: Object) -> list[str]:
    entries = entries_of(service, "status", "loadBalancer", "ingress")
    return [str(entry["ip"]) for entry in entries if entry.get("ip")]


def _block_addresses(block: Object) -> Iterator[Address]:
    if block.get("cidr"):
        network = ipaddress.ip_network(str(block["cidr"]), strict=False)
        start, size = network[0], network.num_addresses
    else:
        start = ipaddress.ip_address(str(block["start"]))
        stop = ipaddress.ip_address(str(block.get("stop") or block["start"]))
        size = int(stop) - int(start) + 1
    for offset in range(min(size, _LARGEST_BLOCK)):
        yield start + offset
