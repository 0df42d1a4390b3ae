"""cloudflared: requests from the internet arrive through a tunnel; no port is opened."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.cloudflare_tunnel.values import SECRET, values
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import chart_sheets, secret
from stockman.model.problem import Problems


def _apps(context: ComponentContext) -> Iterator[App]:
    tunnel = context.materials.tunnel
    if tunnel is None:
        return
    endpoint: Object = {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": "cloudflare-tunnel"},
        "spec": {
            "endpoints": [
                {
                    "dnsName": f"external.{context.domain}",
                    "recordType": "CNAME",
                    "targets": [f"{tunnel.id}.cfargotunnel.com"],
                }
            ]
        },
    }
    yield App(
        name="cloudflare-tunnel",
        namespace=context.namespace,
        sheets=(
            *chart_sheets(context, values(context)),
            Sheet(name="dnsendpoint.yaml", objects=(endpoint,)),
            secret(SECRET, {"TUNNEL_TOKEN": tunnel.token}),
        ),
    )


def _check(context: ComponentContext, problems: Problems) -> None:
    if context.materials.tunnel is None:
        problems.error(
            "tunnel.missing",
            "there is no cloudflare-tunnel.json",
            why="ingress uses a Cloudflare tunnel, whose credentials are in this file",
            fix="run `cloudflared tunnel create --credentials-file cloudflare-tunnel.json NAME`,"
            " or set ingress.mode",
            at=context.cluster.edge.where("ingress_mode"),
        )


COMPONENT = Component(
    name="cloudflare-tunnel",
    about="Ingress from the internet through a Cloudflare tunnel, without open ports.",
    phase=Phase.APPLICATIONS,
    apps=_apps,
    check=_check,
    ready=(deployment_condition("cloudflare-tunnel", "network"),),
    smoke_test=None,
    alerts=(
        Alert(
            name="TunnelDown",
            expr="sum(cloudflared_tunnel_ha_connections) < 1",
            holds="5m",
            severity="critical",
            summary="The tunnel has no connection: the cluster cannot be reached from outside.",
            metrics=("cloudflared_tunnel_ha_connections",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="the tunnel stays `degraded`, and its log names QUIC",
            cause="a firewall drops UDP traffic on port 7844",
            fix="open UDP 7844 to the internet, or set TUNNEL_TRANSPORT_PROTOCOL to http2",
        ),
    ),
)
