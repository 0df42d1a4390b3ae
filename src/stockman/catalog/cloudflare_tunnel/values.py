"""Chart values of the tunnel: a generic chart with one container."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import EXTERNAL
from stockman.config.writers.yaml_writer import render_yaml

SECRET = "cloudflare-tunnel-secret"
_PROGRAM = "cloudflared"
_PORT = 8080


def values(context: ComponentContext) -> Object:
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
        "envFrom": [{"secretRef": {"name": SECRET}}],
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
