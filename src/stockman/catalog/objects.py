"""Objects that many components need: sources, releases, namespaces, secrets."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.model.secret import Secret

CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_SOURCES = "source.toolkit.fluxcd.io/v1"


def oci_repository(name: str, url: str, tag: str) -> Object:
    """A chart in an OCI registry."""
    return {
        "apiVersion": _SOURCES,
        "kind": "OCIRepository",
        "metadata": {"name": name},
        "spec": {
            "interval": "15m",
            "layerSelector": {"mediaType": CHART_LAYER, "operation": "copy"},
            "ref": {"tag": tag},
            "url": url,
        },
    }


def helm_repository(name: str, url: str) -> Object:
    """A plain Helm repository."""
    return {
        "apiVersion": _SOURCES,
        "kind": "HelmRepository",
        "metadata": {"name": name},
        "spec": {"interval": "1h", "url": url},
    }


def helm_release(name: str, chart: Object, values: Mapping[str, object], **more: object) -> Object:
    """A release of a chart; what all releases have in common stands in the cluster's patches."""
    spec: Object = {**chart, "interval": "1h", **more}
    if values:
        spec["values"] = dict(values)
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": name},
        "spec": spec,
    }


def chart_sheets(
    scene: ComponentContext, values: Mapping[str, object], **more: object
) -> tuple[Sheet, ...]:
    """The files that install the component's chart, with the user's values on top."""
    known = scene.known
    name, merged_values = known.release, merge_values(values, scene.wish.values)
    if known.repository.startswith("oci://"):
        source = Sheet(
            name="ocirepository.yaml", objects=(oci_repository(name, known.repository, scene.tag),)
        )
        chart: Object = {"chartRef": {"kind": "OCIRepository", "name": name}}
    else:
        source = Sheet(
            name="helmrepository.yaml", objects=(helm_repository(name, known.repository),)
        )
        chart = {
            "chart": {
                "spec": {
                    "chart": known.chart,
                    "version": scene.tag,
                    "sourceRef": {"kind": "HelmRepository", "name": name},
                }
            }
        }
    release = helm_release(name, chart, merged_values, **more)
    return (Sheet(name="helmrelease.yaml", objects=(release,)), source)


def secret(
    name: str,
    texts: Mapping[str, Secret | str],
    *,
    file: str = "secret.sops.yaml",
    of_type: str = "",
) -> Sheet:
    """A Secret, in a file that is encrypted."""
    content: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": dict(texts),
    }
    if of_type:
        content["type"] = of_type
    return Sheet(name=file, objects=(content,))


def config_map(name: str, texts: Mapping[str, str], **metadata: object) -> Object:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": dict(texts),
    }


def merge_values(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Object:
    """Chart values as Helm lays them over each other: mappings by key, all else replaced."""
    result: Object = dict(ours)
    for key, value in theirs.items():
        mine = result.get(key)
        both = isinstance(mine, dict) and isinstance(value, dict)
        result[key] = merge_values(mine, value) if both else value  # type: ignore[arg-type]
    return result


INTERNAL = "envoy-internal"
EXTERNAL = "envoy-external"
GATEWAYS_NAMESPACE = "network"


def public_gateway(scene: ComponentContext) -> str:
    """The gateway of what others may reach: the external one, if there is one."""
    return INTERNAL if scene.cluster.edge.ingress_mode == "none" else EXTERNAL


def route(
    name: str, host: str, gateway: str, backend: tuple[str, int], *, prefix: str = ""
) -> Object:
    """A route from a name on a gateway to a service."""
    service, port = backend
    rule: Object = {"backendRefs": [{"name": service, "port": port}]}
    if prefix:
        rule["matches"] = [{"path": {"type": "PathPrefix", "value": prefix}}]
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name},
        "spec": {
            "hostnames": [host],
            "parentRefs": [
                {"name": gateway, "namespace": GATEWAYS_NAMESPACE, "sectionName": "https"}
            ],
            "rules": [rule],
        },
    }


MONITORING = "prometheus-operator-crds"
"""The component that turns monitoring on."""
_MONITORING_VERSION = "monitoring.coreos.com/v1"


def is_monitoring_on(scene: ComponentContext) -> bool:
    """Whether monitors and rules may be rendered."""
    return scene.on(MONITORING)


def pod_monitor(
    name: str, labels: Mapping[str, str], *, port: str = "metrics", https: bool = False
) -> Object:
    """Figures of every pod with these labels, in the monitor's own namespace."""
    endpoint: Object = {"port": port}
    if https:
        # Certificates of these ports are made by the programs themselves.
        endpoint |= {"scheme": "https", "tlsConfig": {"insecureSkipVerify": True}}
    return {
        "apiVersion": _MONITORING_VERSION,
        "kind": "PodMonitor",
        "metadata": {"name": name},
        "spec": {
            "podMetricsEndpoints": [endpoint],
            "selector": {"matchLabels": dict(labels)},
        },
    }


def pod_monitor_sheets(
    scene: ComponentContext, labels: Mapping[str, str], *, https: bool = False
) -> tuple[Sheet, ...]:
    """The file of a component's monitor, where monitoring is on."""
    if not is_monitoring_on(scene):
        return ()
    monitor = pod_monitor(scene.known.release, labels, https=https)
    return (Sheet(name="podmonitor.yaml", objects=(monitor,)),)
