"""A download into a storage as its task goes: what is there, what came, and what that is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.images.fetching import FetchFailed
from stockman_lab.images.untrusted import UntrustedImage, checked_image


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
    form: str = ""
    """Of an image that is going to be imported. Empty: an ISO file, any content will do."""
    is_image: bool = True
    """Whether the content is looked at: templates of containers are not."""
    pid: int = 1
    """Of the worker; it is part of names that errors show."""


def existing_is_right(download: Download, existing: bytes, log: Callable[[str], None]) -> None:
    """Pass where the right content is there already; else refuse to replace it."""
    log(_announcement(download))
    if download.checksum is None:
        raise FetchFailed(f"refusing to override existing file '{download.path}'")
    wrong = download.checksum.mismatch(existing)
    if wrong:
        log("calculating checksum of existing file...")
        raise FetchFailed(f"{wrong}, aborting")
    log("calculating checksum of existing file...OK, got correct file already, no need to download")


def finished(download: Download, content: bytes, log: Callable[[str], None]) -> bytes:
    """What is made of a content that came: refused where it is not what was asked for."""
    path = f"{download.path}.tmp_dwnl.{download.pid}"
    if download.checksum is not None:
        wrong = download.checksum.mismatch(content)
        if wrong:
            log("calculating checksum...")
            raise FetchFailed(wrong)
        log("calculating checksum...OK, checksum verified")
    if download.is_image:
        try:
            checked_image(content, path, download.form)
        except UntrustedImage as refusal:
            raise FetchFailed(f"failed to verify file: {refusal}") from None
    log(f"download of '{download.url}' to '{download.path}' finished")
    return content


def _announcement(download: Download) -> str:
    return f"downloading {download.url} to {download.path}"
