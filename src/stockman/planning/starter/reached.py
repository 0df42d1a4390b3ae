"""How the API was reached, for the files that are to reach it again."""

from __future__ import annotations

from stockman.model.record import record

CA_FILE = "pve-root-ca.pem"
"""Name of the authority's certificate beside the files."""


@record
class Reached:
    """Addresses, trust and token as they are to be written."""

    url: str
    others: tuple[str, ...] = ()
    """Further addresses, of which each answered with a certificate that is trusted."""
    silent: tuple[tuple[str, str], ...] = ()
    """Addresses of hosts that are not written: address, and why as a clause."""
    ca: str | None = None
    """PEM of the authority that signs the hosts. None: another way of trust."""
    fingerprint: str | None = None
    """That of the one certificate. None: another way of trust."""
    trust_why: str = ""
    token_id: str = "stockman@pve!stockman"
    token_why: str = ""
    token_is_given: bool = False
    """Whether its secret comes from the environment; otherwise stockman keeps it itself."""
