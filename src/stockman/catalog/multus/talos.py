"""Patches of the Multus manifest for Talos."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.component import ComponentArtifact

_TARGET: Object = {"kind": "DaemonSet", "name": "kube-multus-ds"}
_INSTALL = ["/usr/src/multus-cni/bin/install_multus", "-d", "/host/opt/cni/bin", "-t", "thick"]


def patches(plugins: ComponentArtifact) -> tuple[Object, ...]:
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
