"""References of images, taken apart: `ghcr.io/siderolabs/installer:v1.13.9@sha256:...`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
NAME = re.compile(rf"{_PART}(?:/{_PART})*")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HOME = "docker.io"


class NoReference(ValueError):
    """A text that names no image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One image in one registry."""

    host: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def asked(self) -> str:
        """What a registry is asked for: the digest, or else the tag."""
        return self.digest or self.tag or "latest"

    def url(self, kind: str, reference: str) -> str:
        return f"https://{self.host}/v2/{self.repository}/{kind}/{reference}"


def reference(text: str) -> Reference:
    """What a text names; one without a host is of Docker Hub. Raises `NoReference`."""
    rest, at, digest = text.partition("@")
    first, slash, more = rest.partition("/")
    has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    host, rest = (first, more) if has_host else (_HOME, rest)
    repository, colon, tag = rest.partition(":")
    if host == _HOME and "/" not in repository:
        repository = f"library/{repository}"
    if (
        not NAME.fullmatch(repository)
        or (colon and not TAG.fullmatch(tag))
        or (at and not DIGEST.fullmatch(digest))
    ):
        raise NoReference(text)
    return Reference(host=host, repository=repository, tag=tag, digest=digest)
