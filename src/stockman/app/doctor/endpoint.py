"""One server that the configuration names."""

from __future__ import annotations

from typing import Literal

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
    """Key and place, `proxmox.endpoint (cluster.yaml:3:13)`."""
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
