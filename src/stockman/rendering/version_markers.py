"""Comments by which Renovate knows the versions in the line below."""

from __future__ import annotations

MARKERS = {
    "talosVersion": "renovate: datasource=github-releases depName=siderolabs/talos",
    "kubernetesVersion": "renovate: datasource=docker depName=ghcr.io/siderolabs/kubelet",
}
