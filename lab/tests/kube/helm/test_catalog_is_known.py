"""Every chart that the catalog asks for is one that the lab knows, with the values it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.rendering import render

from stockman.config.language import Dialect
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.catalog.looking import objects

_PRESETS: tuple[tuple[str, Mapping[str, object], Dialect], ...] = (
    ("single", {}, "classic"),
    ("three-node", {}, "classic"),
    ("three-node", {}, "toml"),
    ("fifteen-node", EVERYTHING, "classic"),
)


def _releases(
    preset: str, more: Mapping[str, object], dialect: Dialect
) -> dict[str, tuple[Chart | None, dict[str, Any]]]:
    """Charts and values by the names of releases."""
    result = rendered(more, preset=preset, dialect=dialect)
    registries = {
        content["metadata"]["name"]: content["spec"] for content in objects(result, "OCIRepository")
    }
    repositories = {
        content["metadata"]["name"]: content["spec"]["url"]
        for content in objects(result, "HelmRepository")
    }
    releases: dict[str, tuple[Chart | None, dict[str, Any]]] = {}
    for content in objects(result, "HelmRelease"):
        spec = content["spec"]
        if "chartRef" in spec:
            registry = registries[spec["chartRef"]["name"]]
            chart = charts.known(registry["url"], registry["ref"]["tag"])
        else:
            registry = spec["chart"]["spec"]
            url = repositories[registry["sourceRef"]["name"]]
            chart = charts.known_in(url, registry["chart"], registry["version"])
        releases[content["metadata"]["name"]] = (chart, spec.get("values") or {})
    return releases


@pytest.mark.parametrize(("preset", "more", "dialect"), _PRESETS)
def test_all_charts_of_a_preset_are_known(
    preset: str, more: Mapping[str, object], dialect: Dialect
) -> None:
    releases = _releases(preset, more, dialect)
    assert len(releases) > 8
    assert [name for name, (chart, _) in releases.items() if chart is None] == []


def test_components_that_talk_to_proxmox_read_their_secret() -> None:
    founds: dict[str, list[str]] = {}
    for name, (chart, values) in _releases("fifteen-node", EVERYTHING, "classic").items():
        assert chart is not None
        for content in render(chart, name, "here", values).objects:
            if content["kind"] in ("Deployment", "DaemonSet"):
                pod = content["spec"]["template"]["spec"]
                secrets = [each.get("secret", {}) for each in pod.get("volumes") or ()]
                secret_names = [each["secretName"] for each in secrets if each]
                founds[content["metadata"]["name"]] = secret_names

    assert founds["proxmox-cloud-controller-manager"] == ["proxmox-ccm-config"]
    assert founds["proxmox-csi-plugin-controller"] == ["proxmox-csi-config"]
    assert founds["karpenter-provider-proxmox"] == ["karpenter-config"]
    assert founds["proxmox-csi-plugin-node"] == []


def _pod(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a workload says about its pods; nothing where it is none."""
    spec = content.get("spec") or {}
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    template = spec.get("template") if isinstance(spec, Mapping) else None
    result = template.get("spec") if isinstance(template, Mapping) else None
    return result if isinstance(result, Mapping) and "containers" in result else {}


def test_pods_mount_what_they_are_given() -> None:
    supplied: dict[str, list[str]] = {}
    left: list[str] = []
    for name, (chart, values) in _releases("fifteen-node", EVERYTHING, "classic").items():
        assert chart is not None
        for content in render(chart, name, "here", values).objects:
            pod = _pod(content)
            mounted = {
                each["name"]
                for container in (*pod.get("containers", ()), *pod.get("initContainers", ()))
                for each in container.get("volumeMounts") or ()
            }
            volumes = [each["name"] for each in pod.get("volumes") or ()]
            supplied[f"{content['kind']}/{content['metadata']['name']}"] = volumes
            left += [f"{name}: {each}" for each in volumes if each not in mounted]

    assert supplied["CronJob/talos-backup"] == ["talos-secrets"]
    assert left == []


def test_charts_bring_the_workloads_that_readiness_is_judged_by() -> None:
    result = set()
    for name, (chart, values) in _releases("fifteen-node", EVERYTHING, "classic").items():
        assert chart is not None
        for content in render(chart, name, "here", values).objects:
            result.add(f"{content['kind']}/{content['metadata']['name']}")
    assert {
        "DaemonSet/cilium",
        "Deployment/cilium-operator",
        "Deployment/coredns",
        "Deployment/cert-manager",
        "Deployment/cert-manager-webhook",
        "DaemonSet/spegel",
        "Deployment/flux-operator",
        "FluxInstance/flux",
        "Deployment/reloader",
        "Deployment/metrics-server",
        "APIService/v1beta1.metrics.k8s.io",
        "Deployment/envoy-gateway",
        "Deployment/k8s-gateway",
        "Deployment/cloudflare-dns",
        "Deployment/cloudflare-tunnel",
        "Deployment/echo",
        "DaemonSet/proxmox-cloud-controller-manager",
        "DaemonSet/talos-cloud-controller-manager",
        "Deployment/proxmox-csi-plugin-controller",
        "DaemonSet/proxmox-csi-plugin-node",
        "Deployment/karpenter-provider-proxmox",
        "Deployment/rook-ceph-operator",
        "Deployment/tuppr",
        "ServiceAccount/tuppr-talosconfig",
        "CronJob/talos-backup",
        "ServiceAccount/talos-backup-secrets",
        "DaemonSet/nvidia-device-plugin",
        "StorageClass/proxmox",
    } - result == set()
