"""Settings of the Kubernetes control plane: program arguments, manifests and OIDC logins."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.formats import HTTP_URL, REPOSITORY_FILE, Example
from stockman.model.machine import ProgramArguments
from stockman.model.origin import Traced
from stockman.model.record import record


@record
class ExtraArguments(Traced):
    """Arguments of control plane programs, by name without dashes."""

    api_server: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-apiserver."""
    controller_manager: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-controller-manager."""
    scheduler: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-scheduler."""
    etcd: ProgramArguments = field(default_factory=dict)
    """Arguments of etcd."""


@record
class InlineManifest(Traced):
    """Objects that Talos applies when the cluster starts."""

    contents: Annotated[str, Example("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")] = ""
    """Manifests as text. Empty: read from `file`."""
    file: Annotated[str, REPOSITORY_FILE] | None = None
    """File with the manifests. None: given in `contents`."""


@record
class Oidc(Traced):
    """Login to the Kubernetes API through an OpenID Connect identity provider."""

    issuer_url: Annotated[str, HTTP_URL]
    """URL of the issuer."""
    client_id: str
    """Client id at the issuer."""
    username_claim: str = "preferred_username"
    """Claim that contains the user name."""
    username_prefix: str = "oidc:"
    """Prefix of user names. With an empty prefix a user could have the name of a system account."""
    groups_claim: str = "groups"
    """Claim that contains the groups."""
    groups_prefix: str = "oidc:"
    """Prefix of group names."""
