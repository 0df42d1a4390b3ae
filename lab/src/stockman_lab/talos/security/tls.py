"""How machines speak TLS."""

from __future__ import annotations

import hashlib
import ssl
from pathlib import Path

_TALOS_LABEL = "ED25519 PRIVATE KEY"
_LABEL = "PRIVATE KEY"


def server_context(
    certificate: str, key: str, scratch: Path, client_authorities: str | None
) -> ssl.SSLContext:
    """TLS 1.2 and 1.3 under a certificate; clients need one too where authorities are given.

    OpenSSL takes keys from files only: one lies in the directory for as long as that takes.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    path = scratch / f"{hashlib.sha256(certificate.encode()).hexdigest()[:16]}.talos.pem"
    path.touch(mode=0o600)
    try:
        path.write_text(key.replace(_TALOS_LABEL, _LABEL) + certificate, "ascii")
        context.load_cert_chain(path)
    finally:
        path.unlink()
    if client_authorities is not None:
        context.load_verify_locations(cadata=client_authorities)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
