"""How certificates are judged: contexts for handshakes, and what a certificate says."""

from __future__ import annotations

import hashlib
import ssl
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from stockman.model.secret import Secret
from stockman.ports.environment import Certificate, Trust


class InvalidCa(Exception):
    """What was given as CA certificates holds none; the text says why."""


def verifying_context(trust: Trust) -> ssl.SSLContext:
    """A context that refuses what its CAs did not sign; it knows nothing of the fingerprint.

    A CA that is given is not held to RFC 5280 in every letter, as Python >= 3.13 does by itself:
    small CAs of one's own often lack a key identifier.
    """
    if trust.ca is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        # What is not ASCII is a comment: certificates are base64.
        context.load_verify_locations(cadata=trust.ca.decode("ascii", "ignore"))
    except (ssl.SSLError, ValueError):
        raise InvalidCa("it holds no certificate") from None
    return context


def insecure_context() -> ssl.SSLContext:
    """A context that takes any certificate, to look at it; no secret may be sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def load_client_certificate(context: ssl.SSLContext, crt: str, key: Secret) -> None:
    """Show a client certificate in handshakes; raises `ssl.SSLError` or `ValueError`.

    OpenSSL takes keys from files only: one lies in a directory of ours for that moment.
    """
    with TemporaryDirectory(prefix="stockman-") as private:
        path = Path(private) / "client.pem"
        path.touch(mode=0o600)
        try:
            path.write_text(f"{key.reveal()}\n{crt}", "ascii")
            context.load_cert_chain(path, password=_no_password)
        finally:
            path.unlink()


def _no_password() -> str:
    """An encrypted key is one that cannot be read; nobody is asked at a terminal."""
    return ""


def parse_certificate(der: bytes, flaw: str = "") -> Certificate:
    """What a certificate says of itself."""
    return Certificate(
        fingerprint=_format_fingerprint(hashlib.sha256(der).hexdigest()),
        expires=_expires(der),
        flaw=flaw,
    )


def fingerprint_mismatch(seen: Certificate, trust: Trust) -> str:
    """Why a certificate is not the pinned one, as a clause; empty if it is, or none is pinned."""
    if trust.fingerprint is None or _normalize_fingerprint(
        seen.fingerprint
    ) == _normalize_fingerprint(trust.fingerprint):
        return ""
    pinned = _format_fingerprint(_normalize_fingerprint(trust.fingerprint))
    return f"its fingerprint is {seen.fingerprint}, not the pinned {pinned}"


def _expires(der: bytes) -> datetime:
    from cryptography import x509

    return x509.load_der_x509_certificate(der).not_valid_after_utc


def _normalize_fingerprint(fingerprint: str) -> str:
    return fingerprint.replace(":", "").lower()


def _format_fingerprint(digits: str) -> str:
    pairs = (digits[at : at + 2] for at in range(0, len(digits), 2))
    return ":".join(pairs).upper()
