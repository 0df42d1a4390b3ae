"""Signatures of plans, and of the journals of their runs.

A saved plan is signed with the key of the configuration. When a run starts, the same key signs a
grant: the name of the run, the digest of its plan, and the public key of its journal. The private
key of the journal is derived, and stored nowhere. Each line of a journal signs the checksum that
covers all lines before it, so the signature of the last line is enough.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from stockman.crypto.hkdf import derive_key
from stockman.engine import problems
from stockman.model.errors import Refused

_PLAN, _RUN, _JOURNAL = "stockman plan v1", "stockman run v1", "stockman journal v1"


class JournalKeys:
    """The keys of one journal."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @property
    def public(self) -> str:
        """The public key in hexadecimal."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, checksum: str) -> str:
        """Return the signature of a line with this checksum."""
        return self._private.sign(f"{_JOURNAL}\n{checksum}".encode()).hex()

    def is_signed(self, checksum: str, signature: str) -> bool:
        """Whether a signature belongs to a checksum."""
        return _is_valid(self.public, f"{_JOURNAL}\n{checksum}", signature)


class RunSigner:
    """Signs plans and runs with the key of a configuration, and verifies them."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @property
    def public(self) -> str:
        """The public key in hexadecimal."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign_plan(self, digest: str) -> dict[str, str]:
        """Return the signature of a plan with this digest, as it is saved."""
        return {"key": self.public, "value": self._sign(f"{_PLAN}\n{digest}")}

    def sign_run(self, run: str, digest: str) -> dict[str, str]:
        """Return the grant for a run of the plan with this digest, as it is stored."""
        journal = self.journal_keys(run).public
        value = self._sign(_grant(run, digest, journal))
        return {"key": self.public, "journal": journal, "value": value}

    def journal_keys(self, run: str) -> JournalKeys:
        """Return the keys of the journal of a run."""
        seed = derive_key(self._key.private_bytes_raw(), run.encode(), _JOURNAL.encode())
        return JournalKeys(Ed25519PrivateKey.from_private_bytes(seed))

    def check_plan(self, text: str, file: str) -> None:
        """Raise `Refused` unless a saved plan is signed with the key of the configuration."""
        digest, signature = _read_signature(text)
        if why := self._other_key(signature) or self._wrong(signature, f"{_PLAN}\n{digest}"):
            raise Refused(problems.unsigned_plan(file, why))

    def check_run(self, run: str, text: str) -> JournalKeys:
        """Return the keys of the journal of a run; raises `Refused` unless its plan is signed."""
        digest, signature = _read_signature(text)
        keys = self.journal_keys(run)
        grant = _grant(run, digest, keys.public)
        if why := self._other_key(signature) or self._wrong(signature, grant):
            raise Refused(problems.unsigned_run(run, why))
        return keys

    def is_of_another_key(self, text: str) -> bool:
        """Whether the plan of a run is signed with the key of another configuration."""
        _, signature = _read_signature(text)
        return bool(signature) and signature.get("key") != self.public

    def _sign(self, message: str) -> str:
        return self._key.sign(message.encode()).hex()

    def _other_key(self, signature: Mapping[str, str]) -> str:
        if not signature:
            return "it has no signature"
        if signature.get("key") != self.public:
            return "it is signed with another key: the secrets of the cluster changed since"
        return ""

    def _wrong(self, signature: Mapping[str, str], message: str) -> str:
        if _is_valid(self.public, message, signature.get("value", "")):
            return ""
        return "its signature does not match its content"


def _grant(run: str, digest: str, journal: str) -> str:
    return f"{_RUN}\n{run}\n{digest}\n{journal}"


def _read_signature(text: str) -> tuple[str, Mapping[str, str]]:
    """Return digest and signature of a plan. Empty: it has none."""
    try:
        content = json.loads(text)
    except ValueError:
        return "", {}
    signature = content.get("signature") if isinstance(content, dict) else None
    if not isinstance(signature, dict):
        return "", {}
    return str(content.get("digest", "")), {name: str(text) for name, text in signature.items()}


def _is_valid(public: str, message: str, signature: str) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), message.encode())
    except (InvalidSignature, ValueError):
        return False
    return True
