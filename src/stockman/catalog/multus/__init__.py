"""Multus: additional network interfaces for pods, for example in VLANs."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, daemonset_condition
from stockman.catalog.multus.networks import MultusSettings, attachments, check, network_smoke_test
from stockman.catalog.objects import RemoteManifests
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.component import ComponentArtifact

_SOURCE = "https://github.com/k8snetworkplumbingwg/multus-cni"
_MANIFEST = "deployments/multus-daemonset-thick.yml"
_IMAGE = "ghcr.io/k8snetworkplumbingwg/multus-cni"
_TARGET: Object = {"kind": "DaemonSet", "name": "kube-multus-ds"}
_INSTALL = ["/usr/src/multus-cni/bin/install_multus", "-d", "/host/opt/cni/bin", "-t", "thick"]
_BINARIES: Object = {
    "name": "cnibin",
    "mountPath": "/host/opt/cni/bin",
    "mountPropagation": "Bidirectional",
}
_POD: Object = {
    "containers": [
        {
            "name": "kube-multus",
            "resources": {
                "requests": {"cpu": "10m", "memory": "64Mi"},
                "limits": {"cpu": None, "memory": "150Mi"},
            },
        }
    ],
    "volumes": [{"name": "host-run-netns", "hostPath": {"path": "/var/run/netns/"}}],
}
"""On Talos, network namespaces are below /var. Upstream's memory limit is too low."""


def _apps(context: ComponentContext) -> Iterator[App]:
    version = (
        f"v{context.options.version}"
        if context.options.version is not None
        else context.facts.app_version
    )
    namespace = context.namespace
    manifests = RemoteManifests(
        name="multus",
        url=_SOURCE,
        tag=version,
        path="deployments",
        only=_MANIFEST,
        # Upstream's manifest uses a tag that is not fixed.
        images={_IMAGE: f"{version}-thick"},
        patches=_patches(context.facts.artifacts["install-cni"]),
    )
    yield App(name="multus", namespace=namespace, sheets=manifests.sheets())
    if context.settings_as(MultusSettings).networks:
        sheet = Sheet(name="networks.yaml", objects=attachments(context))
        yield App(
            name="multus-config",
            namespace=namespace,
            folder="config",
            sheets=(sheet,),
            scattered=True,
        )


def _patches(plugins: ComponentArtifact) -> tuple[Object, ...]:
    """Return the patches; `plugins` is the image with additional CNI plugins."""
    pod = {
        **_POD,
        "initContainers": [
            {"name": "install-multus-binary", "command": _INSTALL},
            {
                "name": "install-cni",
                "image": f"{plugins.repository}:{plugins.tag}",
                "command": ["/install-cni.sh"],
                "securityContext": {"privileged": True},
                "volumeMounts": [_BINARIES],
            },
        ],
    }
    daemon_set: Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "kube-multus-ds", "namespace": "kube-system"},
        "spec": {"template": {"spec": pod}},
    }
    return ({"patch": render_yaml(daemon_set), "target": _TARGET},)


COMPONENT = Component(
    name="multus",
    about="Additional network interfaces for pods, for example in VLANs.",
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=MultusSettings,
    check=check,
    ready=(
        daemonset_condition("kube-multus-ds", "kube-system"),
        crd_condition("network-attachment-definitions.k8s.cni.cncf.io"),
    ),
    smoke_test_for=network_smoke_test,
    known_problems=(
        KnownProblem(
            symptom="a pod with a second network fails with `failed to find plugin`",
            cause=(
                "Talos contains only a few CNI plugins, and the others were not copied to the node"
            ),
            fix="restart the pod of kube-multus-ds on that node: it copies them when it starts",
        ),
        KnownProblem(
            symptom="a pod with a second network stays in ContainerCreating",
            cause="the link of the network is not up on the node",
            fix="add the link to `links:` of the node, and give the VM an interface in that VLAN",
        ),
        KnownProblem(
            symptom="pods of kube-multus-ds are OOMKilled",
            cause="upstream's memory limit of 50 MiB is too low when many pods start",
            fix="none needed: stockman raises the limit",
        ),
    ),
    definitions=("k8s.cni.cncf.io",),
)
