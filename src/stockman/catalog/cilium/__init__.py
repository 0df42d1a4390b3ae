"""Cilium: pod network, load balancing, policies."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.cilium.values import CiliumSettings, check, has_parts_for_later, values
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import (
    Condition,
    daemonset_condition,
    deployment_condition,
    job_smoke_test,
)
from stockman.catalog.objects import INTERNAL, chart_sheets, route
from stockman.model.desired import Bgp

_LINUX: Object = {"matchLabels": {"kubernetes.io/os": "linux"}}
_PEER = "bgp-peer-config-v4"
_ADVERTISEMENT: Object = {"advertise": "bgp"}


def _apps(context: ComponentContext) -> Iterator[App]:
    namespace = context.namespace
    # Later components depend on Cilium, so Cilium cannot depend on them.
    waiting: Object = {"disableWait": True}
    more = {"install": waiting, "upgrade": waiting} if has_parts_for_later(context) else {}
    files = chart_sheets(context, values(context), **more)
    yield App(name="cilium", namespace=namespace, sheets=files)
    sheets = [Sheet(name="networks.yaml", objects=_networks(context))]
    if context.settings_as(CiliumSettings).hubble_ui:
        page = route("hubble-ui", f"hubble.{context.domain}", INTERNAL, ("hubble-ui", 80))
        sheets.append(Sheet(name="httproute.yaml", objects=(page,)))
    yield App(name="cilium-config", namespace=namespace, folder="config", sheets=tuple(sheets))


def _networks(context: ComponentContext) -> tuple[Object, ...]:
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
    return manifest(
        "cilium.io/v2", "CiliumLoadBalancerIPPool", "pool", allowFirstLastIPs="Yes", blocks=blocks
    )


def _block(text: str) -> Object:
    if "/" in text:
        return {"cidr": text}
    start, _, stop = text.partition("-")
    return {"start": start.strip(), "stop": (stop or start).strip()}


def _announcement(context: ComponentContext) -> Object:
    interfaces = context.settings_as(CiliumSettings).l2_interfaces
    more: Object = {"interfaces": list(interfaces)} if interfaces else {}
    return manifest(
        "cilium.io/v2alpha1",
        "CiliumL2AnnouncementPolicy",
        "l2-policy",
        loadBalancerIPs=True,
        nodeSelector=_LINUX,
        **more,
    )


def _bgp(bgp: Bgp) -> tuple[Object, ...]:
    # All services are advertised: NotIn with a label value that none has matches all.
    everything = {"key": "somekey", "operator": "NotIn", "values": ["never-used-value"]}
    advertisement = manifest(
        "cilium.io/v2",
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
        manifest("cilium.io/v2", "CiliumBGPPeerConfig", _PEER, families=[family]),
        manifest(
            "cilium.io/v2",
            "CiliumBGPClusterConfig",
            "bgp-cluster-config",
            nodeSelector=_LINUX,
            bgpInstances=[instance],
        ),
    )


COMPONENT = Component(
    name="cilium",
    about="Pod network: routing without kube-proxy, load balancing, network policies.",
    phase=Phase.NETWORK,
    apps=_apps,
    settings=CiliumSettings,
    check=check,
    ready=(
        daemonset_condition("cilium", "kube-system"),
        deployment_condition("cilium-operator", "kube-system"),
        Condition(
            kind="v1 Node",
            name="",
            expr="object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
            says="every node is ready",
        ),
    ),
    smoke_test=job_smoke_test(
        "a pod reaches the Kubernetes API through its service",
        "stockman-network-test",
        ("/agnhost", "connect", "kubernetes.default.svc:443", "--timeout=10s"),
    ),
    alerts=(
        Alert(
            name="CiliumUnreachableNodes",
            expr="max by (pod) (cilium_unreachable_nodes) > 0",
            holds="10m",
            severity="critical",
            summary="Cilium on {{ $labels.pod }} cannot reach some nodes.",
            metrics=("cilium_unreachable_nodes",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="nodes stay NotReady with `cni plugin not initialized`, and reboot repeatedly",
            cause="Cilium is not installed yet; Talos waits ten minutes for a network",
            fix="install the releases in bootstrap/ before the timeout",
        ),
        KnownProblem(
            symptom="pods cannot resolve names while the rest of the network works",
            cause="BPF masquerading bypasses the node's DNS forwarding",
            fix="keep bpf.hostLegacyRouting on, as set by stockman",
        ),
    ),
    definitions=("cilium.io",),
)
