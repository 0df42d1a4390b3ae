"""`/cluster/config`: which hosts make up the cluster, and how another one would join."""

from __future__ import annotations

from stockman_lab.pve import certificates
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.host import Host
from stockman_lab.pve.sections import text_digest

_PATH = "/cluster/config"
_JOIN_API = 1
_NOT_CLUSTERED = 424
_NO_FINGERPRINT = ":".join(["00"] * 32)


@endpoint("GET", _PATH)
def index(call: Call) -> object:
    del call
    names = ("nodes", "totem", "join", "qdevice", "apiversion")
    return [{"name": name} for name in names]


@endpoint("GET", f"{_PATH}/apiversion")
def api_version(call: Call) -> object:
    del call
    return _JOIN_API


@endpoint("GET", f"{_PATH}/nodes")
def nodes(call: Call) -> object:
    if not call.cluster.state.is_clustered:
        return []
    hosts = call.cluster.state.hosts.values()
    return [{"node": host.name} | _member(host) for host in hosts]


@endpoint("GET", f"{_PATH}/totem")
def totem(call: Call) -> object:
    return _totem(call) if call.cluster.state.is_clustered else {}


@endpoint("GET", f"{_PATH}/join")
def join_information(call: Call) -> object:
    state = call.cluster.state
    if not state.is_clustered:
        raise ApiError(_NOT_CLUSTERED, "node is not in a cluster, no join info available!")
    preferred = call.text("node", call.host.name)
    if preferred not in state.hosts:
        raise die(f"unknown node '{preferred}'")
    return {
        "nodelist": [_joined(call, host) for host in state.hosts.values()],
        "preferred_node": preferred,
        "totem": _totem(call),
        "config_digest": text_digest(",".join(state.hosts)),
    }


def _member(host: Host) -> dict[str, object]:
    return {
        "name": host.name,
        "nodeid": str(host.nodeid),
        "quorum_votes": "1",
        "ring0_addr": host.address,
    }


def _joined(call: Call, host: Host) -> dict[str, object]:
    certificate = call.cluster.state.certificates.get(host.name)
    shown = certificates.fingerprint_of(certificate) if certificate is not None else _NO_FINGERPRINT
    return _member(host) | {
        "nodeid": host.nodeid,
        "quorum_votes": 1,
        "pve_addr": host.address,
        "pve_fp": shown,
    }


def _totem(call: Call) -> dict[str, object]:
    state = call.cluster.state
    return {
        "cluster_name": state.name,
        "config_version": str(len(state.hosts)),
        "interface": {"0": {"linknumber": "0"}},
        "ip_version": "ipv4-6",
        "link_mode": "passive",
        "secauth": "on",
        "version": "2",
    }
