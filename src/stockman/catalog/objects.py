"""Kubernetes objects that many components use: sources, releases, routes, secrets, monitors."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.model.secret import Secret

CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_SOURCES = "source.toolkit.fluxcd.io/v1"


def oci_repository(name: str, url: str, tag: str) -> Object:
    """Return the OCIRepository of a chart."""
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
    """Return a HelmRepository."""
    return {
        "apiVersion": _SOURCES,
        "kind": "HelmRepository",
        "metadata": {"name": name},
        "spec": {"interval": "1h", "url": url},
    }


def helm_release(name: str, chart: Object, values: Mapping[str, object], **more: object) -> Object:
    """Return a HelmRelease; patches of the cluster add what all releases share."""
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
    context: ComponentContext, values: Mapping[str, object], **more: object
) -> tuple[Sheet, ...]:
    """Return the files that install the component's chart, with the user's values merged in."""
    known = context.facts
    name, merged_values = known.release, merge_values(values, context.options.values)
    if known.repository.startswith("oci://"):
        source = Sheet(
            name="ocirepository.yaml",
            objects=(oci_repository(name, known.repository, context.tag),),
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
                    "version": context.tag,
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
    """Return a Secret, in an encrypted file."""
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
    """Return a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": dict(texts),
    }


def merge_values(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Object:
    """Merge chart values like Helm: mappings by key, everything else is replaced."""
    result: Object = dict(ours)
    for key, value in theirs.items():
        mine = result.get(key)
        both = isinstance(mine, dict) and isinstance(value, dict)
        result[key] = merge_values(mine, value) if both else value  # type: ignore[arg-type]
    return result


INTERNAL = "envoy-internal"
EXTERNAL = "envoy-external"
GATEWAYS_NAMESPACE = "network"


def public_gateway(context: ComponentContext) -> str:
    """Return the gateway for public routes: the external one, if it exists."""
    return INTERNAL if context.cluster.edge.ingress_mode == "none" else EXTERNAL


def route(
    name: str, host: str, gateway: str, backend: tuple[str, int], *, prefix: str = ""
) -> Object:
    """Return a route from a name on a gateway to a service."""
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
"""The component that enables monitoring."""
_MONITORING_VERSION = "monitoring.coreos.com/v1"


def is_monitoring_on(context: ComponentContext) -> bool:
    """Return whether monitors and rules can be rendered."""
    return context.is_enabled(MONITORING)


def pod_monitor(
    name: str, labels: Mapping[str, str], *, port: str = "metrics", https: bool = False
) -> Object:
    """Return a PodMonitor for pods with these labels in the same namespace."""
    endpoint: Object = {"port": port}
    if https:
        # The programs behind these ports create their own certificates.
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
    context: ComponentContext, labels: Mapping[str, str], *, https: bool = False
) -> tuple[Sheet, ...]:
    """Return the file of a component's monitor, if monitoring is enabled."""
    if not is_monitoring_on(context):
        return ()
    monitor = pod_monitor(context.facts.release, labels, https=https)
    return (Sheet(name="podmonitor.yaml", objects=(monitor,)),)
