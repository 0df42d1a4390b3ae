"""PEM texts as Talos reads them: block after block, passing over what is none."""

from __future__ import annotations

import base64
import binascii
import re

from stockman.crypto.certificates import read_certificate
from stockman.crypto.pem import Block, NotPem, pem
from stockman.crypto.private_keys import read_key
from stockman.model.secret import Secret

CERTIFICATE = "CERTIFICATE"
_BLOCK = re.compile(
    r"^-----BEGIN (?P<label>[^\n]*?)-----[ \t]*\r?\n"
    r"(?P<body>.*?)^-----END (?P=label)-----",
    re.DOTALL | re.MULTILINE,
)


def blocks(text: str) -> list[Block]:
    """Every block of a text."""
    found = []
    for match in _BLOCK.finditer(text):
        try:
            der = base64.b64decode("".join(match["body"].split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        found.append(Block(match["label"], der))
    return found


def is_certificate(block: Block) -> bool:
    """Whether what stands in a block is a certificate, whatever its label."""
    try:
        read_certificate(pem(CERTIFICATE, block.der))
    except (NotPem, ValueError):
        return False
    return True


def why_no_private_key(text: str) -> str:
    """What is wrong with a private key, without showing it. Empty: nothing."""
    try:
        read_key(Secret(text))
    except NotPem as error:
        return str(error)
    return ""
