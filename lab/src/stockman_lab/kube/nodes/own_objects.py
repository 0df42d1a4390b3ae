"""What API servers and those beside them write of themselves: where they are, and who leads."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.nodes.leases import micro_time
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of

_SPACE, _SYSTEM, _NAME = "default", "kube-system", "kubernetes"
_LEASES = "coordination.k8s.io/v1"
_AGENT = "kube-apiserver/v1.36.3"
_USER = User("system:apiserver", ("system:masters", "system:authenticated"))
_SERVER_LASTS, _LEADER_LASTS = 3600, 15
_RENEWED_EVERY = 10.0
_LEADERS = ("kube-controller-manager", "kube-scheduler")


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """One API server that answers."""

    hostname: str
    address: str
    port: int = 6443


def keep_own_objects(api: Api, servers: Sequence[ServerPlace], now: float) -> None:
    """See to it that a cluster tells where its API servers are; nothing is written twice."""
    client = Client(api, _AGENT, _USER)
    for endpoint in (_endpoints(servers), _slice(servers), *_leases(servers, now)):
        try:
            _keep(api, client, endpoint)
        except Refused:
            continue  # as well as can be: it is tried at the next look


def _keep(api: Api, client: Client, desired: Object) -> None:
    metadata = metadata_of(desired)
    plural = {"Endpoints": "endpoints", "EndpointSlice": "endpointslices"}
    kind = str(desired["kind"])
    result = api.context.found(
        plural.get(kind, "leases"), str(metadata["namespace"]), str(metadata["name"])
    )
    content = {name: one for name, one in desired.items() if name not in {"apiVersion", "kind"}}
    if result is None:
        client.create(str(desired["apiVersion"]), kind, content)
        return
    changed = copied(result)
    for name, one in content.items():
        if name != "metadata":
            changed[name] = {**part_of(result, name), **one} if isinstance(one, dict) else one
    if _holder(result) == _holder(changed) and "acquireTime" in part_of(result, "spec"):
        changed["spec"]["acquireTime"] = result["spec"]["acquireTime"]
    if _bare(result) != _bare(changed):
        client.update(changed)


def _holder(content: Object) -> object:
    return part_of(content, "spec").get("holderIdentity")


def _bare(content: Object) -> Object:
    return {name: one for name, one in content.items() if name != "metadata"}


def _endpoints(servers: Sequence[ServerPlace]) -> Object:
    port = {"name": "https", "port": _port(servers), "protocol": "TCP"}
    addresses = [{"ip": item.address} for item in _in_order(servers)]
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": _NAME, "namespace": _SPACE, "labels": labels},
        "subsets": [{"addresses": addresses, "ports": [port]}] if addresses else [],
    }


def _slice(servers: Sequence[ServerPlace]) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": _NAME,
            "namespace": _SPACE,
            "labels": {"kubernetes.io/service-name": _NAME},
        },
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": [item.address], "conditions": {"ready": True}}
            for item in _in_order(servers)
        ],
        "ports": [{"name": "https", "port": _port(servers), "protocol": "TCP"}],
    }


def _in_order(servers: Sequence[ServerPlace]) -> list[ServerPlace]:
    return sorted(servers, key=lambda server: server.address)


def _port(servers: Sequence[ServerPlace]) -> int:
    return servers[0].port if servers else 6443


def _leases(servers: Sequence[ServerPlace], now: float) -> list[Object]:
    moment = micro_time(now - now % _RENEWED_EVERY)
    objects = [_server_lease(item, moment) for item in _in_order(servers)]
    if servers:
        leader = _in_order(servers)[0].hostname
        objects += [_leader_lease(name, leader, moment) for name in _LEADERS]
    return objects


def identity(hostname: str) -> str:
    """How an API server calls itself."""
    digest = hashlib.sha256(hostname.encode()).digest()[:16]
    return f"apiserver-{base64.b32encode(digest).decode().lower().rstrip('=')}"


def _unique(text: str) -> str:
    result = hashlib.sha256(text.encode()).hexdigest()
    return "-".join((result[:8], result[8:12], result[12:16], result[16:20], result[20:32]))


def _server_lease(server: ServerPlace, moment: str) -> Object:
    name = identity(server.hostname)
    return {
        "apiVersion": _LEASES,
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": _SYSTEM,
            "labels": {
                "apiserver.kubernetes.io/identity": "kube-apiserver",
                "kubernetes.io/hostname": server.hostname,
            },
        },
        "spec": {
            "holderIdentity": f"{name}_{_unique(server.hostname)}",
            "leaseDurationSeconds": _SERVER_LASTS,
            "renewTime": moment,
        },
    }


def _leader_lease(name: str, leader: str, moment: str) -> Object:
    return {
        "apiVersion": _LEASES,
        "kind": "Lease",
        "metadata": {"name": name, "namespace": _SYSTEM},
        "spec": {
            "acquireTime": moment,
            "holderIdentity": f"{leader}_{_unique(f'{name} {leader}')}",
            "leaseDurationSeconds": _LEADER_LASTS,
            "renewTime": moment,
        },
    }
