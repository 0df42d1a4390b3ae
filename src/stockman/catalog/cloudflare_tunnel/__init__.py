"""cloudflared: requests from the internet arrive through a tunnel; no port is opened."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import EXTERNAL, chart_sheets, secret
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.problem import Problems

_SECRET = "cloudflare-tunnel-secret"
_PROGRAM = "cloudflared"
_PORT = 8080


def _apps(context: ComponentContext) -> Iterator[App]:
    tunnel = context.materials.tunnel
    if tunnel is None:
        return
    record: Object = {
        "dnsName": f"external.{context.domain}",
        "recordType": "CNAME",
        "targets": [f"{tunnel.id}.cfargotunnel.com"],
    }
    endpoint = manifest(
        "externaldns.k8s.io/v1alpha1", "DNSEndpoint", "cloudflare-tunnel", endpoints=[record]
    )
    yield App(
        name="cloudflare-tunnel",
        namespace=context.namespace,
        sheets=(
            *chart_sheets(context, _values(context)),
            Sheet(name="dnsendpoint.yaml", objects=(endpoint,)),
            secret(_SECRET, {"TUNNEL_TOKEN": tunnel.token}),
        ),
    )


def _values(context: ComponentContext) -> Object:
    """Return the chart values."""
    chart_values: Object = {
        "controllers": {
            "cloudflare-tunnel": {
                "strategy": "RollingUpdate",
                "annotations": {"reloader.stakater.com/auto": "true"},
                "containers": {"app": _container(context)},
            }
        },
        "defaultPodOptions": {
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "runAsGroup": 65534}
        },
        "service": {"app": {"ports": {"http": {"port": _PORT}}}},
        "configMaps": {"config": {"data": {"config.yaml": _routes(context)}}},
        "persistence": {
            "config-file": {
                "type": "configMap",
                "identifier": "config",
                "globalMounts": [
                    {"path": "/etc/cloudflared/config.yaml", "subPath": "config.yaml"}
                ],
            }
        },
    }
    if context.is_enabled("prometheus-operator-crds"):
        chart_values["serviceMonitor"] = {"app": {"endpoints": [{"port": "http"}]}}
    return chart_values


def _container(context: ComponentContext) -> Object:
    image = context.facts.artifacts[_PROGRAM]
    probe: Object = {
        "enabled": True,
        "custom": True,
        "spec": {
            "httpGet": {"path": "/ready", "port": _PORT},
            "periodSeconds": 10,
            "timeoutSeconds": 1,
            "failureThreshold": 3,
        },
    }
    return {
        "image": {"repository": image.repository, "tag": image.tag},
        "env": {
            "NO_AUTOUPDATE": True,
            "TUNNEL_METRICS": f"0.0.0.0:{_PORT}",
            "TUNNEL_POST_QUANTUM": True,
            "TUNNEL_TRANSPORT_PROTOCOL": "quic",
        },
        "envFrom": [{"secretRef": {"name": _SECRET}}],
        "args": ["tunnel", "run"],
        "probes": {"liveness": probe, "readiness": probe},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "10m"}, "limits": {"memory": "256Mi"}},
    }


def _routes(context: ComponentContext) -> str:
    gateway = f"https://{EXTERNAL}.{{{{ .Release.Namespace }}}}.svc.cluster.local:443"
    inside: Object = {
        "hostname": f"*.{context.domain}",
        "originRequest": {
            "http2Origin": True,
            "originServerName": f"external.{context.domain}",
        },
        "service": gateway,
    }
    return render_yaml({"ingress": [inside, {"service": "http_status:404"}]})


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
