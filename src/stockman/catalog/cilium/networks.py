"""Addresses that Cilium assigns to services, and their announcement."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.cilium.settings import settings_of
from stockman.catalog.component import ComponentContext
from stockman.model.desired import Bgp

_LINUX: Object = {"matchLabels": {"kubernetes.io/os": "linux"}}
_PEER = "bgp-peer-config-v4"
_ADVERTISEMENT: Object = {"advertise": "bgp"}


def networks(context: ComponentContext) -> tuple[Object, ...]:
    """Return the address pool and its announcement by layer 2 or BGP."""
    bgp = context.cluster.cilium.bgp
    return (_pool(context), *((_announcement(context),) if bgp is None else _bgp(bgp)))


def _pool(context: ComponentContext) -> Object:
    """Return the pool of gateway addresses and configured ranges, without addresses of nodes."""
    gateways = context.cluster.gateways
    fixed = (gateways.internal, gateways.dns, gateways.external)
    pool_ranges = (
        *(str(address) for address in fixed if address is not None),
        *context.cluster.cilium.loadbalancer_pool,
    )
    blocks = [_block(pool_range) for pool_range in pool_ranges]
    return _cilium("v2", "CiliumLoadBalancerIPPool", "pool", allowFirstLastIPs="Yes", blocks=blocks)


def _block(text: str) -> Object:
    if "/" in text:
        return {"cidr": text}
    start, _, stop = text.partition("-")
    return {"start": start.strip(), "stop": (stop or start).strip()}


def _announcement(context: ComponentContext) -> Object:
    interfaces = settings_of(context).l2_interfaces
    more: Object = {"interfaces": list(interfaces)} if interfaces else {}
    return _cilium(
        "v2alpha1",
        "CiliumL2AnnouncementPolicy",
        "l2-policy",
        loadBalancerIPs=True,
        nodeSelector=_LINUX,
        **more,
    )


def _bgp(bgp: Bgp) -> tuple[Object, ...]:
    # All services are advertised: NotIn with a label value that none has matches all.
    everything = {"key": "somekey", "operator": "NotIn", "values": ["never-used-value"]}
    advertisement = _cilium(
        "v2",
        "CiliumBGPAdvertisement",
        "bgp-advertisement-config",
        advertisements=[
            {
                "advertisementType": "Service",
                "service": {"addresses": ["LoadBalancerIP"]},
                "selector": {"matchExpressions": [everything]},
            }
        ],
    )
    advertisement["metadata"] = {"name": "bgp-advertisement-config", "labels": _ADVERTISEMENT}
    family = {"afi": "ipv4", "safi": "unicast", "advertisements": {"matchLabels": _ADVERTISEMENT}}
    peer = {
        "name": f"peer-{bgp.router_asn}-v4",
        "peerASN": bgp.router_asn,
        "peerAddress": str(bgp.router_addr),
        "peerConfigRef": {"name": _PEER},
    }
    instance = {"name": f"instance-{bgp.node_asn}", "localASN": bgp.node_asn, "peers": [peer]}
    return (
        advertisement,
        _cilium("v2", "CiliumBGPPeerConfig", _PEER, families=[family]),
        _cilium(
            "v2",
            "CiliumBGPClusterConfig",
            "bgp-cluster-config",
            nodeSelector=_LINUX,
            bgpInstances=[instance],
        ),
    )


def _cilium(version: str, kind: str, name: str, **spec: object) -> Object:
    return {
        "apiVersion": f"cilium.io/{version}",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }
