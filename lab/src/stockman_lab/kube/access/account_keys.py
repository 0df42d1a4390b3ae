"""Keys of service accounts: signing tokens, and telling one's own from others."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.entries import compact_json

_HALF = 32
"""Bytes of each number of an ES256 signature."""


class BadToken(Exception):
    """A text that this key did not sign."""


class AccountKey:
    """The key of a cluster that signs tokens of its service accounts."""

    def __init__(self, pem: str) -> None:
        """A private key, of RSA or of the curve P-256; `ValueError` for anything else."""
        key = load_pem_private_key(pem.encode(), None)
        if not isinstance(key, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey)):
            raise ValueError("service accounts need a key of RSA or of an elliptic curve")
        self._key = key
        public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.identity = encoded(hashlib.sha256(public).digest())
        self.algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"

    def signed(self, claims: Object) -> str:
        """A token."""
        head = compact_json({"alg": self.algorithm, "kid": self.identity})
        text = f"{encoded(head)}.{encoded(compact_json(claims))}"
        return f"{text}.{encoded(self._signature(text.encode()))}"

    def claims(self, token: str) -> Object:
        """What a token says; raises `BadToken`."""
        head, _, rest = token.partition(".")
        body, _, signature = rest.partition(".")
        try:
            content = json.loads(decoded(head))
            claims = json.loads(decoded(body))
            raw = decoded(signature)
        except ValueError:
            raise BadToken(token) from None
        if not isinstance(content, dict) or not isinstance(claims, dict):
            raise BadToken(token)
        if content.get("alg") != self.algorithm:
            raise BadToken(token)
        self._verify(raw, f"{head}.{body}".encode())
        return claims

    def _signature(self, text: bytes) -> bytes:
        if isinstance(self._key, rsa.RSAPrivateKey):
            return self._key.sign(text, padding.PKCS1v15(), hashes.SHA256())
        first, second = decode_dss_signature(self._key.sign(text, ec.ECDSA(hashes.SHA256())))
        return first.to_bytes(_HALF, "big") + second.to_bytes(_HALF, "big")

    def _verify(self, signature: bytes, text: bytes) -> None:
        public = self._key.public_key()
        try:
            if isinstance(public, rsa.RSAPublicKey):
                public.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
                return
            first, second = signature[:_HALF], signature[_HALF:]
            shaped = encode_dss_signature(
                int.from_bytes(first, "big"), int.from_bytes(second, "big")
            )
            public.verify(shaped, text, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise BadToken(text.decode("latin-1")) from None


@lru_cache(maxsize=32)
def account_key(pem: str) -> AccountKey:
    """The key in a text, read once."""
    return AccountKey(pem)


def encoded(content: bytes) -> str:
    """Base64 as tokens use it."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """The same backwards; raises `ValueError`."""
    return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
