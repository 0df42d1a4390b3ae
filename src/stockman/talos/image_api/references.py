"""References of images and URLs of factories and registries: HTTPS, plain HTTP on loopback only."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = pattern(
    r"(?P<host>(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?)"
    rf"/(?P<path>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)

_REFERENCE_FIX = "copy the address from the factory or registry"
_HTTPS_FIX = "use an https:// address"


@record
class ImageReference:
    """A container image in a registry."""

    host: str
    """Includes the port unless it is the default."""
    path: str
    tag_or_digest: str
    """Digest or tag."""

    @property
    def is_digest(self) -> bool:
        return ":" in self.tag_or_digest

    @property
    def manifest_url(self) -> str:
        return f"{_scheme(self.host)}://{self.host}/v2/{self.path}/manifests/{self.tag_or_digest}"


def parse_reference(text: str) -> ImageReference:
    """Parse `host/path:tag` or `host/path@digest`; raises Refused for other texts."""
    match = _REFERENCE.fullmatch(text)
    if match is None or not (match["tag"] or match["digest"]):
        raise Refused(
            _address_problem(text, "an image is written as host/path:tag or host/path@digest")
        )
    return ImageReference(
        host=match["host"], path=match["path"], tag_or_digest=match["digest"] or match["tag"]
    )


def base_url(url: str) -> str:
    """Return the URL of a factory without a trailing slash; raises Refused if it is invalid."""
    check_url(url)
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise Refused(_address_problem(url, "it must be https://host without a query"))
    return url.rstrip("/")


def check_url(url: str) -> str:
    """Return a URL if it may be requested; raises Refused for others."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(_address_problem(url, "it is not a valid URL")) from None
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise Refused(_address_problem(url, "it must be https://host/path"))
    if parts.scheme == "http" and not is_loopback(host):
        raise Refused(
            _address_problem(url, "without https, an attacker could replace the image", _HTTPS_FIX)
        )
    return url


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _scheme(host: str) -> str:
    bare = host if host.endswith("]") else re.sub(r":[0-9]+$", "", host)
    return "http" if is_loopback(bare) else "https"


def _address_problem(text: str, why: str, fix: str = _REFERENCE_FIX) -> Problem:
    return Problem(
        code="images.address",
        what="the image address is invalid",
        where=re.sub(r"//[^/]*@", f"//{MASK}@", text),
        why=why,
        fix=fix,
    )
