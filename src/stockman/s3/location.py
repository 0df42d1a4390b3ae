"""The location of a bucket: endpoint, addressing style and prefix."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import quote, urlsplit

from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK

_KEY = pattern(r"[A-Za-z0-9._=@+:-]+(?:/[A-Za-z0-9._=@+:-]+)*")
_LONGEST = 900
_DOTS = frozenset({".", ".."})
_BUCKET = pattern(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_AUTO = "auto"
_FIRST_REGION = "us-east-1"


@record
class S3Location:
    """A bucket in an S3 storage; see `validate_location`."""

    bucket: str
    endpoint: str | None = None
    """None: the AWS endpoint of the region."""
    region: str = _AUTO
    """The region in signatures."""
    prefix: str = ""
    """The folder of all keys. Empty: the whole bucket."""
    path_style: bool = True
    """Whether URLs contain the bucket in the path instead of the host name."""
    plain_http: bool = False
    """Whether the user permits plain HTTP to other machines."""

    @property
    def url(self) -> str:
        """The endpoint without a trailing slash."""
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
        """Return the URL of the bucket."""
        if self.path_style:
            return f"{self.url}/{self.bucket}"
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{self.bucket}.{parts.netloc}{parts.path}"

    def object_url(self, full_key: str) -> str:
        """Return the URL of an object, by its key in the bucket."""
        return f"{self.bucket_url()}/{quote(full_key, safe='/~')}"

    def full_key(self, key: str) -> str:
        """Return the key in the bucket; raises `Refused` for an invalid key."""
        return self._below(validate_key(key))

    def full_folder(self, folder: str) -> str:
        """Return the prefix in the bucket of keys below a folder."""
        folder_key = self._below(validate_key(folder) if folder else "").strip("/")
        return f"{folder_key}/" if folder_key else ""

    def own_key(self, full_key: str) -> str | None:
        """Return the key without the prefix. None: it is outside of the prefix."""
        folder = self.full_folder("")
        return full_key.removeprefix(folder) if full_key.startswith(folder) else None

    def shown(self, key: str = "") -> str:
        """Return the location for messages."""
        return f"s3://{self.bucket}/{self._below(key)}" if key else f"s3://{self.bucket}"

    def _below(self, key: str) -> str:
        return f"{self.prefix.strip('/')}/{key}" if self.prefix.strip("/") else key


def validate_location(location: S3Location) -> S3Location:
    """Return a location unchanged if it is valid and allowed; raises `Refused`."""
    try:
        parts = urlsplit(location.url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(_location_problem(location, "its endpoint is not a valid URL")) from None
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise Refused(_location_problem(location, "its endpoint must have the form https://host"))
    if parts.query or parts.fragment:
        raise Refused(
            _location_problem(
                location, "its endpoint must have the form https://host without query and fragment"
            )
        )
    if parts.scheme == "http" and not location.plain_http and not is_loopback(host):
        raise Refused(
            _location_problem(
                location, "it is not https, so anybody on the path could read the data"
            )
        )
    if not _BUCKET.fullmatch(location.bucket) or ".." in location.bucket:
        raise Refused(
            _location_problem(location, f"{location.bucket!r} is not a valid bucket name")
        )
    if location.prefix.strip("/"):
        validate_key(location.prefix.strip("/"))
    return location


def validate_key(key: str) -> str:
    """Return a key unchanged if every storage supports it; raises `Refused`."""
    if (
        not _KEY.fullmatch(key)
        or len(key) > _LONGEST
        or any(segment in _DOTS for segment in key.split("/"))
    ):
        raise Refused(
            Problem(
                code="objects.key",
                what="the object key is invalid",
                where=repr(key[:100]),
                why="a key consists of letters, digits and ._=@+:- with single slashes between,"
                f" and has at most {_LONGEST} characters",
                fix="use another key",
            )
        )
    return key


def is_loopback(host: str) -> bool:
    """Return whether a host is the local machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _location_problem(location: S3Location, why: str) -> Problem:
    return Problem(
        code="objects.address",
        what="the location of the S3 bucket is invalid or not allowed",
        where=re.sub(r"//[^/]*@", f"//{MASK}@", location.url),
        why=why,
        fix="write endpoint and bucket as the storage shows them",
    )
