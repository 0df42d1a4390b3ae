"""Where factories and registries answer: HTTPS, and plain HTTP on this machine only."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    r"(?P<host>(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?)"
    rf"/(?P<path>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)

_REFERENCE_FIX = "write it as the factory or the registry itself does"
_HTTPS_FIX = "write it with https:// in front"


@record
class ImageReference:
    """A container image in a registry."""

    host: str
    """With a port if it is not the usual one."""
    path: str
    what: str
    """Digest or tag."""

    @property
    def is_digest(self) -> bool:
        return ":" in self.what

    @property
    def manifest_url(self) -> str:
        return f"{_scheme(self.host)}://{self.host}/v2/{self.path}/manifests/{self.what}"


def parse_reference(text: str) -> ImageReference:
    """What a text names: `host/path:tag`, `host/path@digest`. `Refused` for others."""
    found = _REFERENCE.fullmatch(text)
    if found is None or not (found["tag"] or found["digest"]):
        raise Refused(
            _address_problem(text, "an image is written as host/path:tag or host/path@digest")
        )
    return ImageReference(
        host=found["host"], path=found["path"], what=found["digest"] or found["tag"]
    )


def base_url(url: str) -> str:
    """The address of a factory, without a slash at its end; `Refused` for others."""
    check_url(url)
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise Refused(_address_problem(url, "it has to be https://host and no more"))
    return url.rstrip("/")


def check_url(url: str) -> str:
    """A URL that may be asked; `Refused` for others."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(_address_problem(url, "it cannot be read")) from None
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise Refused(_address_problem(url, "it has to be https://host/path"))
    if parts.scheme == "http" and not is_loopback(host):
        raise Refused(
            _address_problem(
                url, "it is not https, so anybody could put in another image", _HTTPS_FIX
            )
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
        what="images cannot be had from there",
        where=re.sub(r"//[^/]*@", f"//{MASK}@", text),
        why=why,
        fix=fix,
    )
