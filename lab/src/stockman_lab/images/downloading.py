"""A download into a storage as its task goes: what is there, what came, and what that is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stockman_lab.images.compression import Unpackable, unpacked
from stockman_lab.images.fetching import MOST_BYTES, Fetcher, FetchFailed
from stockman_lab.images.untrusted import UntrustedImage, checked_image

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """What a content has to add up to."""

    algorithm: str
    expected: str

    def of(self, content: bytes) -> str:
        return hashlib.new(self.algorithm, content, usedforsecurity=False).hexdigest()

    def mismatch(self, content: bytes) -> str:
        """What is wrong with a content. Empty: nothing."""
        got = self.of(content)
        if got == self.expected.lower():
            return ""
        return f"checksum mismatch: got '{got}' != expect '{self.expected}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """What somebody wants to have, and where."""

    url: str
    path: str
    """Of the file, as the host sees it."""
    checksum: Checksum | None = None
    """None: any content will do."""
    verify: bool = True
    compression: str = ""
    """Empty: none."""
    form: str = ""
    """Of an image that is going to be imported. Empty: an ISO file, any content will do."""
    is_image: bool = True
    """Whether the content is looked at: templates of containers are not."""
    pid: int = 1
    """Of the worker; it is part of names that errors show."""


def existing_is_right(wanted: Download, existing: bytes, log: Callable[[str], None]) -> None:
    """Pass where the right content is there already; else refuse to replace it."""
    log(_announcement(wanted))
    if wanted.checksum is None:
        raise FetchFailed(f"refusing to override existing file '{wanted.path}'")
    wrong = wanted.checksum.mismatch(existing)
    if wrong:
        log("calculating checksum of existing file...")
        raise FetchFailed(f"{wrong}, aborting")
    log("calculating checksum of existing file...OK, got correct file already, no need to download")


async def downloaded(
    wanted: Download, fetcher: Fetcher, moment: datetime, log: Callable[[str], None]
) -> bytes:
    """The content that was asked for, verified, unpacked and looked at."""
    log(_announcement(wanted))
    raw_path = f"{wanted.path}.tmp_dwnl.{wanted.pid}"
    try:
        fetched = await fetcher.fetch(wanted.url, raw_path, moment, verify=wanted.verify)
    except FetchFailed as failure:
        for line in failure.log:
            log(line)
        raise
    for line in fetched.log:
        log(line)
    return finished(wanted, fetched.content, log)


def finished(wanted: Download, content: bytes, log: Callable[[str], None]) -> bytes:
    """What is made of a content that came: refused where it is not what was asked for."""
    path = f"{wanted.path}.tmp_dwnl.{wanted.pid}"
    if wanted.checksum is not None:
        wrong = wanted.checksum.mismatch(content)
        if wrong:
            log("calculating checksum...")
            raise FetchFailed(wrong)
        log("calculating checksum...OK, checksum verified")
    if wanted.compression:
        content, path = _decompressed(wanted, content, path, log), _unpacked_path(wanted)
    if wanted.is_image:
        try:
            checked_image(content, path, wanted.form)
        except UntrustedImage as refusal:
            raise FetchFailed(f"failed to verify file: {refusal}") from None
    log(f"download of '{wanted.url}' to '{wanted.path}' finished")
    return content


def _announcement(wanted: Download) -> str:
    return f"downloading {wanted.url} to {wanted.path}"


def _unpacked_path(wanted: Download) -> str:
    return f"{wanted.path}.tmp_dcom.{wanted.pid}"


def _decompressed(wanted: Download, content: bytes, path: str, log: Callable[[str], None]) -> bytes:
    log(f"decompressing {path} to {_unpacked_path(wanted)}")
    try:
        return unpacked(content, wanted.compression, path, MOST_BYTES)
    except Unpackable as refusal:
        raise FetchFailed(str(refusal)) from None
