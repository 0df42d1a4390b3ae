"""Where a bucket is: its endpoint, how it is written there, and what may be asked for."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import quote, urlsplit

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK

_KEY = re.compile(r"[A-Za-z0-9._=@+:-]+(?:/[A-Za-z0-9._=@+:-]+)*")
_LONGEST = 900
_DOTS = frozenset({".", ".."})
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_AUTO = "auto"
_FIRST_REGION = "us-east-1"


@record
class S3Location:
    """One bucket of one storage; `Refused` by `checked` where it is none."""

    bucket: str
    endpoint: str | None = None
    """None: Amazon's for the region."""
    region: str = _AUTO
    """What requests are signed for."""
    prefix: str = ""
    """A folder that all keys are below. Empty: the whole bucket."""
    path_style: bool = True
    """Whether the bucket is in the path instead of the host name."""
    plain_http: bool = False
    """Whether plain HTTP is fine beyond this machine, because the user says so."""

    @property
    def url(self) -> str:
        """The endpoint, without a slash at its end."""
        if self.endpoint is None:
            return f"https://s3.{self.signed_region}.amazonaws.com"
        return self.endpoint.rstrip("/")

    @property
    def signed_region(self) -> str:
        return _FIRST_REGION if self.endpoint is None and self.region == _AUTO else self.region

    @property
    def is_plain(self) -> bool:
        return self.url.startswith("http://")

    def bucket_url(self) -> str:
        """Where the bucket is."""
        if self.path_style:
            return f"{self.url}/{self.bucket}"
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{self.bucket}.{parts.netloc}{parts.path}"

    def object_url(self, full_key: str) -> str:
        """Where an object is, by its key in the bucket."""
        return f"{self.bucket_url()}/{quote(full_key, safe='/~')}"

    def full_key(self, key: str) -> str:
        """A key in the bucket; `Refused` where it is none."""
        return self._below(validate_key(key))

    def full_folder(self, folder: str) -> str:
        """What keys in the bucket that are below a folder begin with."""
        whole = self._below(validate_key(folder) if folder else "").strip("/")
        return f"{whole}/" if whole else ""

    def own_key(self, full_key: str) -> str | None:
        """A key of the bucket as we call it. None: it is not below our folder."""
        folder = self.full_folder("")
        return full_key.removeprefix(folder) if full_key.startswith(folder) else None

    def shown(self, key: str = "") -> str:
        """For people."""
        return f"s3://{self.bucket}/{self._below(key)}" if key else f"s3://{self.bucket}"

    def _below(self, key: str) -> str:
        return f"{self.prefix.strip('/')}/{key}" if self.prefix.strip("/") else key


def validate_location(place: S3Location) -> S3Location:
    """A place that may be asked; `Refused` for others."""
    try:
        parts = urlsplit(place.url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(_location_problem(place, "its endpoint cannot be read")) from None
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise Refused(_location_problem(place, "its endpoint has to be https://host"))
    if parts.query or parts.fragment:
        raise Refused(_location_problem(place, "its endpoint has to be https://host and no more"))
    if parts.scheme == "http" and not place.plain_http and not is_loopback(host):
        raise Refused(
            _location_problem(place, "it is not https, so anybody could read what is sent")
        )
    if not _BUCKET.fullmatch(place.bucket) or ".." in place.bucket:
        raise Refused(_location_problem(place, f"{place.bucket!r} is no name of a bucket"))
    if place.prefix.strip("/"):
        validate_key(place.prefix.strip("/"))
    return place


def validate_key(key: str) -> str:
    """A key that every storage keeps as it is; `Refused` for others."""
    if (
        not _KEY.fullmatch(key)
        or len(key) > _LONGEST
        or any(part in _DOTS for part in key.split("/"))
    ):
        raise Refused(
            Problem(
                code="objects.key",
                what="this is no key of an object",
                where=repr(key[:100]),
                why="a key is made of parts of letters, digits and ._=@+:- with single slashes"
                f" between them, of {_LONGEST} letters at most",
                fix="use another name",
            )
        )
    return key


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _location_problem(place: S3Location, why: str) -> Problem:
    return Problem(
        code="objects.address",
        what="object storage cannot be used there",
        where=re.sub(r"//[^/]*@", f"//{MASK}@", place.url),
        why=why,
        fix="write endpoint and bucket as the storage names them",
    )
