"""Encrypted values: `ENC[AES256_GCM,data:...,iv:...,tag:...,type:...]`.

A value is bound to the keys above it: it cannot be decrypted at another path.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Sequence

from stockman.crypto import primitives
from stockman.crypto.sops.scalars import (
    INT_MAX,
    INT_MIN,
    CommentText,
    SopsValue,
    Timestamp,
    resolve_scalar,
    value_bytes,
    value_type,
)
from stockman.model.pattern import pattern

DATA_KEY_BYTES = 32

_ENCRYPTED_VALUE = pattern(r"ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]")
_NONCE_BYTES = 32
_TAG_BYTES = 16
_LEAST_NONCE, _MOST_NONCE = 8, 128
_INT = pattern(r"[-+]?[0-9]+")
_FLOAT = pattern(
    r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", re.IGNORECASE
)
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_RFC3339 = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*")


class ValueCipher:
    """Encrypts and decrypts values with the data key of one file."""

    def __init__(self, data_key: bytes) -> None:
        self._cipher = primitives.AESGCM(data_key)

    def encrypt(self, value: SopsValue, bound_to: str, random_bytes: Callable[[int], bytes]) -> str:
        """Encrypt a value; an empty text stays empty."""
        plain = value_bytes(value)
        if not plain:
            return ""
        nonce = random_bytes(_NONCE_BYTES)
        ciphertext = self._cipher.encrypt(nonce, plain, bound_to.encode())
        data, tag = ciphertext[:-_TAG_BYTES], ciphertext[-_TAG_BYTES:]
        return (
            f"ENC[AES256_GCM,data:{_encode_base64(data)},iv:{_encode_base64(nonce)},tag:{_encode_base64(tag)}"
            f",type:{value_type(value)}]"
        )

    def decrypt(self, text: str, bound_to: str) -> SopsValue:
        """Decrypt a value; ValueError describes the failure without the value."""
        if not text:
            return ""
        match = _ENCRYPTED_VALUE.match(text)
        if match is None:
            raise ValueError("it does not have the form ENC[AES256_GCM,...]")
        try:
            data, nonce, tag = (
                base64.b64decode(group, validate=True) for group in match.groups()[:3]
            )
        except (binascii.Error, ValueError):
            raise ValueError("a part of it is not base64") from None
        if not _LEAST_NONCE <= len(nonce) <= _MOST_NONCE:
            raise ValueError("its `iv` has a length that is never used")
        try:
            plain = self._cipher.decrypt(nonce, data + tag, bound_to.encode())
        except primitives.InvalidTag:
            raise ValueError(
                "it does not open at this place with the data key of the file"
            ) from None
        return _parse_typed(plain.decode("utf-8", "surrogateescape"), match[4])


def looks_encrypted(text: str) -> bool:
    """Return whether a text has the form of an encrypted value."""
    return _ENCRYPTED_VALUE.match(text) is not None


def bound_path(path: Sequence[str]) -> str:
    """Return the path that a value is bound to: the keys above it, each followed by a colon."""
    return ":".join(path) + ":"


def _parse_typed(text: str, kind: str) -> SopsValue:
    match kind:
        case "str":
            return text
        case "int" if _INT.fullmatch(text) and INT_MIN <= int(text) <= INT_MAX:
            return int(text)
        case "float" if _FLOAT.fullmatch(text):
            return _parse_float(text)
        case "bool" if text in _TRUE or text in _FALSE:
            return text in _TRUE
        case "time" if _RFC3339.fullmatch(text) and isinstance(resolve_scalar(text), Timestamp):
            return resolve_scalar(text)
        case "comment":
            return CommentText(text)
    raise ValueError("its content is not of the type that it names")


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number) and "i" not in text.lower():
        raise ValueError("its number is too large")
    return number


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
