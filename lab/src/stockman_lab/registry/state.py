"""What a registry holds besides what it can make at any time: everything that was pushed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class StoredManifest:
    """A manifest that was pushed."""

    media_type: str
    content: bytes


@dataclass
class Repository:
    """Manifests under one name."""

    manifests: dict[str, StoredManifest] = field(default_factory=dict)
    """By digest."""
    tags: dict[str, str] = field(default_factory=dict)
    """Digests by tag."""


@dataclass
class RegistryState:
    """The state of one registry."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    """By digest."""
    uploads: dict[str, bytes] = field(default_factory=dict)
    """What has come of blobs that are on their way, by id."""
    opened: int = 0
    """How many uploads were begun."""
    missing: set[str] = field(default_factory=set)
    """Public images that are not there, `siderolabs/kubelet:v1.36.3`."""
