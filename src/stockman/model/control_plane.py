"""Settings of the control plane, and manifests that it applies by itself."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.formats import HTTP_URL, REPOSITORY_FILE, Example
from stockman.model.machine import ProgramArguments
from stockman.model.origin import Traced
from stockman.model.record import record


@record
class ExtraArguments(Traced):
    """Arguments of the control plane's programs, by name without dashes."""

    api_server: ProgramArguments = field(default_factory=dict)
    """For kube-apiserver."""
    controller_manager: ProgramArguments = field(default_factory=dict)
    """For kube-controller-manager."""
    scheduler: ProgramArguments = field(default_factory=dict)
    """For kube-scheduler."""
    etcd: ProgramArguments = field(default_factory=dict)
    """For etcd."""


@record
class InlineManifest(Traced):
    """Objects that Talos applies when the cluster comes up."""

    contents: Annotated[str, Example("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")] = ""
    """Manifests as text. Empty: see `file`."""
    file: Annotated[str, REPOSITORY_FILE] | None = None
    """File with the manifests. None: see `contents`."""


@record
class Oidc(Traced):
    """Logins to the Kubernetes API through an identity provider."""

    issuer_url: Annotated[str, HTTP_URL]
    """Issuer."""
    client_id: str
    """Client."""
    username_claim: str = "preferred_username"
    """Claim that names the user."""
    username_prefix: str = "oidc:"
    """Put in front of user names; empty lets a user take the name of a system account."""
    groups_claim: str = "groups"
    """Claim that lists groups."""
    groups_prefix: str = "oidc:"
    """Put in front of group names."""
