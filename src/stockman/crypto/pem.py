"""PEM blocks, and certificates with their keys as PEM text, without parsing their content."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import Secret

_LINE_LENGTH = 64
_PEM_BLOCK = pattern(
    r"-----BEGIN (?P<label>[A-Z0-9 ]+)-----[ \t]*\r?\n"
    r"(?P<body>[A-Za-z0-9+/=\s]*?)"
    r"-----END (?P=label)-----"
)


class NotPem(ValueError):
    """The text has no valid block; the message says why."""


class PemBlock(NamedTuple):
    """A label and its DER content."""

    label: str
    der: bytes


def encode_pem(label: str, der: bytes) -> str:
    """Encode a block as Go and OpenSSL do, with a final newline."""
    body = base64.b64encode(der).decode("ascii")
    lines = [body[start : start + _LINE_LENGTH] for start in range(0, len(body), _LINE_LENGTH)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def first_block(text: str) -> PemBlock:
    """Return the first block of a text; raises `NotPem` if there is none."""
    match = _PEM_BLOCK.search(text)
    if match is None:
        raise NotPem("there is no `-----BEGIN ...-----` block with its end in it")
    try:
        der = base64.b64decode("".join(match["body"].split()), validate=True)
    except binascii.Error:
        raise NotPem(f"what stands inside of the block {match['label']} is not base64") from None
    return PemBlock(match["label"], der)


@record
class CertificateAndKey:
    """A certificate and its private key, both as PEM text."""

    crt: str
    key: Secret
