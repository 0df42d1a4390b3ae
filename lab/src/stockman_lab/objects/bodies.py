"""Bodies of uploads: whole, or in pieces with signatures and check sums behind them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import zlib
from collections.abc import Callable, Mapping

from stockman.crypto.sigv4 import (
    ALGORITHM,
    EMPTY_DIGEST,
    UNSIGNED_PAYLOAD,
    SigningScope,
    sign_text,
)
from stockman.etcd.crc32c import crc32c
from stockman_lab.objects.refusals import ObjectsError, invalid, mismatch
from stockman_lab.objects.signing import Caller

_POLYNOMIAL = 0x9A6C9329AC4BC9B5
_ALL_ONES = (1 << 64) - 1
_BAD_MD5 = "The Content-MD5 you specified did not match what we received."
_BROKEN_MD5 = "The Content-Md5 you specified is not valid."


def _md5(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()


_SUMS: dict[str, Callable[[bytes], bytes]] = {
    "sha256": lambda content: hashlib.sha256(content).digest(),
    "sha1": lambda content: hashlib.sha1(content, usedforsecurity=False).digest(),
    "crc32": lambda content: zlib.crc32(content).to_bytes(4, "big"),
    "crc32c": lambda content: crc32c(content).to_bytes(4, "big"),
    "crc64nvme": lambda content: crc64nvme(content).to_bytes(8, "big"),
}


def check_sums(headers: Mapping[str, str], content: bytes) -> None:
    """Refuse a content that is not the one its check sums were made of."""
    content_md5 = headers.get("content-md5")
    if content_md5 is not None:
        if len(_plain(content_md5)) != 16:
            raise invalid(_BROKEN_MD5, "InvalidDigest", **{"Content-MD5": content_md5})
        if _plain(content_md5) != _md5(content):
            raise invalid(
                _BAD_MD5,
                "BadDigest",
                CalculatedDigest=base64.b64encode(_md5(content)).decode(),
                ExpectedDigest=_plain(content_md5).hex(),
            )
    for name, made in _SUMS.items():
        content_md5 = headers.get(f"x-amz-checksum-{name}")
        if content_md5 is None:
            continue
        wanted = made(content)
        if len(_plain(content_md5)) != len(wanted):
            raise invalid(f"Value for x-amz-checksum-{name} header is invalid.", "InvalidRequest")
        if _plain(content_md5) != wanted:
            raise invalid(
                f"The {name.upper()} you specified did not match the calculated checksum.",
                "BadDigest",
            )


def crc64nvme(content: bytes) -> int:
    """CRC-64 as NVMe has it."""
    table, crc = _table(), _ALL_ONES
    for byte in content:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ALL_ONES


_TABLE: list[int] = []


def _table() -> list[int]:
    if not _TABLE:
        for byte in range(256):
            crc = byte
            for _ in range(8):
                crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
            _TABLE.append(crc)
    return _TABLE


def _plain(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


_SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
_SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
_UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
_HEAD = re.compile(rb"([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?\r\n")
_TRAILER_SIGNATURE = "x-amz-trailer-signature"


def content_of(caller: Caller, headers: Mapping[str, str], body: bytes) -> bytes:
    """The bytes that are meant; refused where they are not those that were signed."""
    trailers: dict[str, str] = {}
    if caller.payload in (_SIGNED, _SIGNED_TRAILER, _UNSIGNED_TRAILER):
        content, trailers = _pieces(caller, body)
        x_amz_decoded_content_length = headers.get("x-amz-decoded-content-length", "")
        if x_amz_decoded_content_length.isdigit() and int(x_amz_decoded_content_length) != len(
            content
        ):
            raise _incomplete()
    else:
        content = body
        if (
            caller.payload != UNSIGNED_PAYLOAD
            and caller.payload != hashlib.sha256(body).hexdigest()
        ):
            raise invalid(
                "The provided 'x-amz-content-sha256' header does not match what was computed.",
                "XAmzContentSHA256Mismatch",
            )
    check_sums({**headers, **trailers}, content)
    return content


def _pieces(caller: Caller, body: bytes) -> tuple[bytes, dict[str, str]]:
    found, at, previous = bytearray(), 0, caller.signature
    while True:
        head = _HEAD.match(body, at)
        if head is None:
            raise _incomplete()
        size, at = int(head[1], 16), head.end()
        piece = body[at : at + size]
        if len(piece) != size:
            raise _incomplete()
        if head[2] is not None:
            text = head[2].decode()
            wanted = chunk_signature(caller.secret, caller.scope, previous, piece)
            if not hmac.compare_digest(wanted.encode(), text.encode()):
                raise mismatch()
            previous = text
        elif caller.payload != _UNSIGNED_TRAILER:
            raise mismatch()
        at += size
        if size == 0:
            return bytes(found), _trailer_signatures(caller, previous, body[at:])
        found += piece
        if body[at : at + 2] != b"\r\n":
            raise _incomplete()
        at += 2


def _trailer_signatures(caller: Caller, previous: str, text: bytes) -> dict[str, str]:
    trailers = _trailers(text)
    if caller.payload == _SIGNED_TRAILER:
        trailer = trailers.pop(_TRAILER_SIGNATURE, "")
        signed = "".join(f"{name}:{value}\n" for name, value in trailers.items())
        wanted = trailer_signature(caller.secret, caller.scope, previous, signed.encode())
        if not hmac.compare_digest(wanted.encode(), trailer.encode()):
            raise mismatch()
    return trailers


def _incomplete() -> ObjectsError:
    return invalid(
        "You did not provide the number of bytes specified by the Content-Length HTTP header.",
        "IncompleteBody",
    )


def _trailers(text: bytes) -> dict[str, str]:
    lines = (line.partition(b":") for line in text.split(b"\r\n") if b":" in line)
    return {
        name.decode("latin-1").strip().lower(): value.decode("latin-1").strip()
        for name, _, value in lines
    }


def chunk_signature(secret: str, scope: SigningScope, previous: str, content: bytes) -> str:
    """Return the signature of one chunk of a chunked body."""
    digest = hashlib.sha256(content).hexdigest()
    text = (
        f"{ALGORITHM}-PAYLOAD\n{scope.moment}\n{scope.text}\n{previous}\n{EMPTY_DIGEST}\n{digest}"
    )
    return sign_text(secret, scope, text)


def trailer_signature(secret: str, scope: SigningScope, previous: str, trailers: bytes) -> str:
    """Return the signature of the trailers of a chunked body, given as lines `name:value`."""
    digest = hashlib.sha256(trailers).hexdigest()
    text = f"{ALGORITHM}-TRAILER\n{scope.moment}\n{scope.text}\n{previous}\n{digest}"
    return sign_text(secret, scope, text)
