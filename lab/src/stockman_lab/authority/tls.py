"""Certificates in use: how a server shows one, and by what it is recognised."""

from __future__ import annotations

import hashlib
import ssl
from pathlib import Path

from stockman_lab.authority.state import Certificate

_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"


def server_context(certificate: Certificate, directory: Path) -> ssl.SSLContext:
    """TLS 1.2 and 1.3 under a certificate.

    OpenSSL takes keys from files only: one lies in the directory for as long as that takes.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    path = directory / f"{fingerprint(certificate.pem).replace(':', '')[:16]}.pem"
    path.touch(mode=0o600)
    try:
        path.write_text(certificate.key + certificate.pem, "ascii")
        context.load_cert_chain(path)
    finally:
        path.unlink()
    return context


def fingerprint(pem: str) -> str:
    """The SHA-256 of a certificate, in pairs of capital digits with colons."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).digest().hex(":").upper()
