"""Logins to the Kubernetes API through an identity provider."""

from __future__ import annotations

from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import HTTP_URL


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
