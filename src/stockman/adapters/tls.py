"""TLS contexts, facts about certificates, and reasons of connection errors."""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self

from stockman.model.secret import Secret
from stockman.ports.environment import Certificate, Trust


class InvalidCa(Exception):
    """The CA contains no certificate; the text says why."""


def verifying_context(trust: Trust) -> ssl.SSLContext:
    """Return a context that verifies certificates with the CAs; the fingerprint is not checked.

    A configured CA is not checked strictly (RFC 5280), which is the default of Python >= 3.13:
    private CAs often lack a key identifier.
    """
    if trust.ca is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        # Only comments may contain other characters than ASCII.
        context.load_verify_locations(cadata=trust.ca.decode("ascii", "ignore"))
    except (ssl.SSLError, ValueError):
        raise InvalidCa("it contains no certificate") from None
    return context


def insecure_context() -> ssl.SSLContext:
    """Return a context that accepts any certificate; no secret may be sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def load_client_certificate(context: ssl.SSLContext, crt: str, key: Secret) -> None:
    """Use a client certificate in handshakes; raises `ssl.SSLError` or `ValueError`.

    OpenSSL reads keys only from files. These have no name and, where the system can, are only in
    memory, so that no key survives a kill.
    """
    with _unnamed_file(crt) as certificate_path, _unnamed_file(key.reveal()) as key_path:
        context.load_cert_chain(certificate_path, key_path, password=_no_password)


@contextmanager
def _unnamed_file(text: str) -> Iterator[str]:
    """Return a path that leads to a text until the context ends."""
    with _create_unnamed_file() as file:
        file.write(text.encode("ascii"))
        file.seek(0)
        yield f"/dev/fd/{file.fileno()}"


def _create_unnamed_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):  # Linux
        return os.fdopen(os.memfd_create("stockman"), "w+b", buffering=0)
    return TemporaryFile(buffering=0)


def _no_password() -> str:
    """Return an empty password, so that an encrypted key fails instead of prompting."""
    return ""


def parse_certificate(der: bytes, flaw: str = "") -> Certificate:
    """Return fingerprint and expiry of a certificate."""
    return Certificate(
        fingerprint=_format_fingerprint(hashlib.sha256(der).hexdigest()),
        expires=_expires(der),
        flaw=flaw,
    )


def fingerprint_mismatch(certificate: Certificate, trust: Trust) -> str:
    """Return why a certificate is not the pinned one, as a clause; empty if it matches."""
    if trust.fingerprint is None:
        return ""
    accepted = {_normalize_fingerprint(text) for text in (trust.fingerprint, *trust.further)}
    if _normalize_fingerprint(certificate.fingerprint) in accepted:
        return ""
    pinned = _format_fingerprint(_normalize_fingerprint(trust.fingerprint))
    return f"its fingerprint is {certificate.fingerprint}, not the pinned {pinned}"


def _expires(der: bytes) -> datetime:
    from cryptography import x509

    return x509.load_der_x509_certificate(der).not_valid_after_utc


def _normalize_fingerprint(fingerprint: str) -> str:
    return fingerprint.replace(":", "").lower()


def _format_fingerprint(digits: str) -> str:
    pairs = (digits[at : at + 2] for at in range(0, len(digits), 2))
    return ":".join(pairs).upper()


def certificate_flaw(error: BaseException) -> ssl.SSLCertVerificationError | None:
    """Return the certificate error that caused an error. None: another cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def certificate_reason(flaw: ssl.SSLCertVerificationError) -> str:
    """Return why a certificate is not trusted, as a clause."""
    return lower_first(str(getattr(flaw, "verify_message", "") or flaw).rstrip("."))


def error_reason(error: BaseException) -> str:
    """Return the reason of a connection error as a clause."""
    deepest, cause = error, error
    while (previous := cause.__cause__ or cause.__context__) is not None:
        cause = previous
        if isinstance(cause, OSError):
            deepest = cause
    if isinstance(deepest, ConnectionRefusedError):
        return "connection refused"
    if isinstance(deepest, ConnectionResetError | BrokenPipeError | ssl.SSLEOFError):
        return "the connection was lost"
    if isinstance(deepest, ssl.SSLError):
        return f"TLS handshake failed: {lower_first(deepest.reason or 'no reason')}"
    if isinstance(deepest, socket.gaierror):
        return f"its name has no address ({lower_first(deepest.strerror or 'unknown error')})"
    if isinstance(deepest, TimeoutError):
        return "connection timed out"
    message = str(deepest) or type(error).__name__
    return lower_first(message.rstrip("."))


def lower_first(text: str) -> str:
    """Return a sentence as a clause: without its capital, unless it is an abbreviation."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


class AsyncCloseable(ABC):
    """An asynchronous context manager that closes itself on exit."""

    @abstractmethod
    async def close(self) -> None:
        """Release all resources; the object cannot be used any more."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
