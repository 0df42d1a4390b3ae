"""Settings of the control plane, and manifests that it applies by itself."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.settings import Arguments
from stockman.model.shapes import REPOSITORY_FILE, Example


@record
class ExtraArguments(Traced):
    """Arguments of the control plane's programs, by name without dashes."""

    api_server: Arguments = field(default_factory=dict)
    """For kube-apiserver."""
    controller_manager: Arguments = field(default_factory=dict)
    """For kube-controller-manager."""
    scheduler: Arguments = field(default_factory=dict)
    """For kube-scheduler."""
    etcd: Arguments = field(default_factory=dict)
    """For etcd."""


@record
class InlineManifest(Traced):
    """Objects that Talos applies when the cluster comes up."""

    contents: Annotated[str, Example("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")] = ""
    """Manifests as text. Empty: see `file`."""
    file: Annotated[str, REPOSITORY_FILE] | None = None
    """File with the manifests. None: see `contents`."""
