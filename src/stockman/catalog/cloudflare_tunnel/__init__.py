"""cloudflared: requests from the internet come in through a tunnel, no port is open."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.cloudflare_tunnel.values import SECRET, values
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import chart_sheets, secret
from stockman.model.problem import Problems


def _apps(scene: ComponentContext) -> Iterator[App]:
    tunnel = scene.materials.tunnel
    if tunnel is None:
        return
    endpoint: Object = {
        "apiVersion": "externaldns.k8s.io/v1alpha1",
        "kind": "DNSEndpoint",
        "metadata": {"name": "cloudflare-tunnel"},
        "spec": {
            "endpoints": [
                {
                    "dnsName": f"external.{scene.domain}",
                    "recordType": "CNAME",
                    "targets": [f"{tunnel.id}.cfargotunnel.com"],
                }
            ]
        },
    }
    yield App(
        name="cloudflare-tunnel",
        namespace=scene.namespace,
        sheets=(
            *chart_sheets(scene, values(scene)),
            Sheet(name="dnsendpoint.yaml", objects=(endpoint,)),
            secret(SECRET, {"TUNNEL_TOKEN": tunnel.token}),
        ),
    )


def _check(scene: ComponentContext, problems: Problems) -> None:
    if scene.materials.tunnel is None:
        problems.error(
            "tunnel.missing",
            "there is no cloudflare-tunnel.json",
            why="ingress comes through a Cloudflare tunnel, whose credentials are in that file",
            fix="run `cloudflared tunnel create --credentials-file cloudflare-tunnel.json NAME`,"
            " or set ingress.mode",
            at=scene.cluster.edge.where("ingress_mode"),
        )


COMPONENT = Component(
    name="cloudflare-tunnel",
    about="Requests from the internet come in through a tunnel; no port is open.",
    phase=Phase.APPLICATIONS,
    apps=_apps,
    check=_check,
    ready=(deployment_condition("cloudflare-tunnel", "network"),),
    trial=None,
    alerts=(
        Alert(
            name="TunnelDown",
            expr="sum(cloudflared_tunnel_ha_connections) < 1",
            holds="5m",
            severity="critical",
            summary="No connection of the tunnel is up: nobody outside reaches the cluster.",
            metrics=("cloudflared_tunnel_ha_connections",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="the tunnel stays `degraded`, and its log names QUIC",
            because="a firewall drops UDP on port 7844",
            fix="open UDP 7844 to the internet, or set TUNNEL_TRANSPORT_PROTOCOL to http2",
        ),
    ),
)
