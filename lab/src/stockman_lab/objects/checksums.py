"""Check sums that clients send along with what they upload."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Mapping

from stockman.etcd.crc32c import crc32c
from stockman_lab.objects.refusals import invalid

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
