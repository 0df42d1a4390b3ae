"""What is kept of an authority and of certificates: texts, so that they can be saved."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state


@state
class Certificate:
    """A certificate, its key, and what the certificate says, so that nobody has to parse it."""

    pem: str
    key: str
    """In PEM; what it protects is a simulation."""
    subject: str
    """As Proxmox VE prints it: `/OU=.../O=.../CN=...`."""
    issuer: str
    not_before: int
    """In seconds since 1970."""
    not_after: int
    names: list[str] = field(default_factory=list)
    """For which hosts and addresses it holds, in the order of the certificate."""


@state
class Authority:
    """What signs the certificates of one cluster."""

    certificate: Certificate
    issued: int = 0
    """The serial number of the last certificate; they are counted from one."""
