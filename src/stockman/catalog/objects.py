"""Kubernetes objects that many components use: sources, releases, routes, secrets, monitors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.catalog.app import Object, Sheet, manifest
from stockman.catalog.component import ComponentContext
from stockman.model.component import ComponentArtifact
from stockman.model.record import record
from stockman.model.secret import Secret

CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_SOURCES = "source.toolkit.fluxcd.io/v1"


def chart_sheets(
    context: ComponentContext, values: Mapping[str, object], **more: object
) -> tuple[Sheet, ...]:
    """Return the files that install the component's chart, with the user's values merged in."""
    known = context.facts
    name, merged_values = known.release, merge_values(values, context.options.values)
    if not known.repository.startswith("oci://"):
        artifact = ComponentArtifact(known.repository, context.tag)
        return artifact_sheets(name, known.chart, artifact, merged_values, **more)
    source = manifest(
        _SOURCES,
        "OCIRepository",
        name,
        interval="15m",
        layerSelector={"mediaType": CHART_LAYER, "operation": "copy"},
        ref={"tag": context.tag},
        url=known.repository,
    )
    reference: Object = {"chartRef": {"kind": "OCIRepository", "name": name}}
    return (
        _release(name, reference, merged_values, more),
        Sheet(name="ocirepository.yaml", objects=(source,)),
    )


def artifact_sheets(
    name: str, chart: str, artifact: ComponentArtifact, values: Mapping[str, object], **more: object
) -> tuple[Sheet, ...]:
    """Return the files that install a chart from a Helm repository."""
    reference: Object = {
        "chart": {
            "spec": {
                "chart": chart,
                "version": artifact.tag,
                "sourceRef": {"kind": "HelmRepository", "name": name},
            }
        }
    }
    source = manifest(_SOURCES, "HelmRepository", name, interval="1h", url=artifact.repository)
    return (
        _release(name, reference, values, more),
        Sheet(name="helmrepository.yaml", objects=(source,)),
    )


def _release(
    name: str, reference: Object, values: Mapping[str, object], more: Mapping[str, object]
) -> Sheet:
    """Return a HelmRelease; patches of the cluster add what all releases share."""
    spec: Object = {**reference, "interval": "1h", **more}
    if values:
        spec["values"] = dict(values)
    release = manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, **spec)
    return Sheet(name="helmrelease.yaml", objects=(release,))


@record
class RemoteManifests:
    """A directory of another repository at a tag, which Flux fetches and then patches."""

    name: str
    url: str
    tag: str
    path: str
    """Directory to apply."""
    only: str
    """Part of the repository to fetch."""
    patches: tuple[Object, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    """Image tags that replace those in the manifests."""
    prune: bool = True
    """Whether objects are deleted with the component."""

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the source, and the Kustomization that applies it."""
        source = manifest(
            _SOURCES,
            "GitRepository",
            self.name,
            interval="1h",
            ignore=f"/*\n!/{self.only}\n",
            ref={"tag": self.tag},
            url=self.url,
        )
        spec: Object = {
            "interval": "1h",
            "path": f"./{self.path}",
            "prune": self.prune,
            "sourceRef": {"kind": "GitRepository", "name": self.name},
            "wait": True,
        }
        if self.images:
            spec["images"] = [{"name": name, "newTag": tag} for name, tag in self.images.items()]
        if self.patches:
            spec["patches"] = list(self.patches)
        flux = manifest(
            "kustomize.toolkit.fluxcd.io/v1", "Kustomization", f"{self.name}-manifests", **spec
        )
        return (
            Sheet(name="gitrepository.yaml", objects=(source,)),
            Sheet(name="manifests.yaml", objects=(flux,)),
        )


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
    parent = {"name": gateway, "namespace": GATEWAYS_NAMESPACE, "sectionName": "https"}
    return manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        name,
        hostnames=[host],
        parentRefs=[parent],
        rules=[rule],
    )


MONITORING = "prometheus-operator-crds"
"""The component that enables monitoring."""


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
    return manifest(
        "monitoring.coreos.com/v1",
        "PodMonitor",
        name,
        podMetricsEndpoints=[endpoint],
        selector={"matchLabels": dict(labels)},
    )


def pod_monitor_sheets(
    context: ComponentContext, labels: Mapping[str, str], *, https: bool = False
) -> tuple[Sheet, ...]:
    """Return the file of a component's monitor, if monitoring is enabled."""
    if not is_monitoring_on(context):
        return ()
    monitor = pod_monitor(context.facts.release, labels, https=https)
    return (Sheet(name="podmonitor.yaml", objects=(monitor,)),)
