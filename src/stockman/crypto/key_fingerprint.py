"""Fingerprints of public keys, by which machines are known that nobody has signed for yet."""

from __future__ import annotations

import base64
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def key_fingerprint(certificate: bytes) -> str:
    """The SHA-256 of the public key of a certificate (in DER) in base64, as `talosctl` has it."""
    key = x509.load_der_x509_certificate(certificate).public_key()
    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(encoded).digest()).decode("ascii")
