"""Paths of the access control list."""

from __future__ import annotations

import re
from functools import cache

from stockman_lab.pve.access.privileges import Profile

_SLASHES = re.compile(r"/+")
_NORMAL = re.compile(r"(?:/[A-Za-z0-9.\-_]+)+\Z")
_ALLOWED = re.compile(r"[A-Za-z0-9.\-_/]+\Z")

_NAME = r"[A-Za-z0-9.\-_]+"
_EVERYWHERE = (
    r"/",
    rf"/access(?:/groups(?:/{_NAME})?|/realm(?:/{_NAME})?)?",
    rf"/nodes(?:/{_NAME})?",
    rf"/pool(?:/{_NAME}){{0,3}}",
    r"/sdn",
    r"/sdn/controllers(?:/[A-Za-z0-9_\-]+)?",
    r"/sdn/(?:dns|ipams)(?:/[A-Za-z0-9]+)?",
    rf"/sdn/zones(?:/{_NAME}(?:/{_NAME}(?:/[1-9][0-9]{{0,3}})?)?)?",
    rf"/storage(?:/{_NAME})?",
    r"/vms(?:/[1-9][0-9]{2,})?",
    rf"/mapping(?:/{_NAME}){{0,2}}",
)
_SINCE_9 = (r"/sdn/fabrics(?:/[A-Za-z0-9]+)?",)


def normalised(path: str) -> str | None:
    """The one way to write a path; None: it holds characters that no path may hold."""
    if _NORMAL.match(path):
        return path
    if not path or path == "0":
        return None
    path = _SLASHES.sub("/", path).removesuffix("/")
    if not path.startswith("/"):
        path = f"/{path}"
    return path if _ALLOWED.match(path) else None


def is_valid(path: str, profile: Profile) -> bool:
    """Whether entries may be added to this normalised path."""
    return _valid(profile).match(path) is not None


@cache
def _valid(profile: Profile) -> re.Pattern[str]:
    forms = _EVERYWHERE if profile is Profile.PVE_8_4 else (*_EVERYWHERE, *_SINCE_9)
    return re.compile(rf"(?:{'|'.join(forms)})\Z")
