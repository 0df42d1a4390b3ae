"""Objects that many components need: sources, releases, namespaces, secrets."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.catalog.app import Object, Sheet
from stockman.catalog.scene import Scene
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


def chart_sheets(scene: Scene, values: Mapping[str, object], **more: object) -> tuple[Sheet, ...]:
    """The files that install the component's chart, with the user's values on top."""
    known = scene.known
    name, merged_values = known.release, merged(values, scene.wish.values)
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


def merged(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Object:
    """Chart values as Helm lays them over each other: mappings by key, all else replaced."""
    result: Object = dict(ours)
    for key, value in theirs.items():
        mine = result.get(key)
        both = isinstance(mine, dict) and isinstance(value, dict)
        result[key] = merged(mine, value) if both else value  # type: ignore[arg-type]
    return result
