"""Fingerprints of keys are those that `talosctl --cert-fingerprint` takes."""

import base64
import hashlib
import ssl

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from stockman.crypto.certificates import key_fingerprint
from tests.talos.made import bundle

_ED25519_PREFIX = bytes.fromhex("302a300506032b6570032100")
"""How a public key of this kind begins, written out by hand."""


def test_the_fingerprint_is_that_of_the_public_key_with_its_kind() -> None:
    der = ssl.PEM_cert_to_DER_cert(bundle().certs.os.crt)
    key = x509.load_der_x509_certificate(der).public_key()
    assert isinstance(key, Ed25519PublicKey)
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)

    digest = hashlib.sha256(_ED25519_PREFIX + raw).digest()
    assert key_fingerprint(der) == base64.b64encode(digest).decode()
