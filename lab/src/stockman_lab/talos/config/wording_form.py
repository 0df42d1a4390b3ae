"""The form of what Talos says of problems, and words that changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """How one kind of problem is told."""

    code: str
    found: str
    """What our own words are recognised by: a pattern over what and why, with names."""
    said: str
    """In Talos' words, with the names of the pattern, and `value` for what stands there."""
    is_whole: bool = False
    """Told of the whole configuration, and of no document."""


_BOOT_ASSETS = "https://www.talos.dev/latest/talos-guides/install/boot-assets/"
_NEWER_ASSETS = (
    "https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets"
)
_EXTENSIONS = ".machine.install.extensions is deprecated, please see "
EXTENSIONS = _EXTENSIONS + _BOOT_ASSETS
FILTER = 'KubeSpan endpoint filer is not valid: "{net}"'
ENDPOINT = "cluster controlplane endpoint is required"
_MIGRATED = (
    ENDPOINT + " (.cluster.controlPlane.endpoint); when the endpoint is migrated to the "
    "KubeClusterConfig document, the whole .cluster.controlPlane section should be removed "
    "(.cluster.controlPlane.localAPIServerPort is migrated to the KubeAPIServerConfig document)"
)

LATER: dict[str, tuple[tuple[str, str], ...]] = {
    EXTENSIONS: ((_EXTENSIONS + _NEWER_ASSETS, "1.13"),),
    FILTER: (('KubeSpan endpoint filter is not valid: "{net}"', "1.13"),),
    ENDPOINT: ((_MIGRATED, "1.14"),),
}
"""Words that changed, and since when."""
