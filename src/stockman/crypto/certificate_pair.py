"""A certificate and its key as texts: what is passed around, without the library that reads it."""

from __future__ import annotations

from stockman.model.record import record
from stockman.model.secret import Secret


@record
class CertificateAndKey:
    """A certificate together with its private key, both as PEM text."""

    crt: str
    key: Secret
