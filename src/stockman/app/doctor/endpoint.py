"""One server that the configuration names, and where it does."""

from __future__ import annotations

from typing import Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.ports.probe import Door

Kind = Literal["proxmox", "kubernetes", "factory", "git", "s3", "mirror", "identity", "host"]


@record
class Endpoint:
    """One server, what it is for, and where the user wrote it."""

    kind: Kind
    purpose: str
    """Proxmox endpoints of one region have the same, and one that answers is enough."""
    shown: str
    """Its address without anything confidential."""
    door: Door
    written: str
    """Key and place, `proxmox_endpoint (cluster.yaml:3:13)`."""
    needed: bool
    """Whether this machine talks to it itself; otherwise only the nodes do."""
    web: bool = False
    """Whether a proxy for the web may stand in between."""
    tls: bool = False
    """Whether it shows a certificate that is to be judged."""
    ca_file: str | None = None
    """None: the CAs of the system."""
    fingerprint: str | None = None
    """None: by CA."""
    trust_keys: str = ""
    """Keys that say how its certificate is judged. Empty: there are none."""


def written(section: Traced, field: str, key: str) -> str:
    """A key as the user wrote it with its place, or as the reference names it where it is not."""
    origin = section.origins.get(field)
    return f"{key} (its default)" if origin is None else f"{origin.name} ({origin.at})"
