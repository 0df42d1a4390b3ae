"""Formats that texts of custom objects may be asked to have; those not named here are no rule."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import urlsplit

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)", re.ASCII
)
_DURATION = re.compile(r"[+-]?(?:0|(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_WORDED = re.compile(r"((\d+)\s*([A-Za-zµ]+))")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_UUID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
)
_HOSTNAME = re.compile(r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.?)+")
_MAC = re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")
_HEX_COLOR = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def has_format(form: str, text: str) -> bool:
    """Whether a text has a format; unknown formats are had by every text."""
    rule = _RULES.get(form)
    return rule is None or rule(text)


def _is_address(version: int) -> Callable[[str], bool]:
    def rule(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return rule


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _is_uri(text: str) -> bool:
    if re.search(r"[\s\x00-\x1f]", text):
        return False
    try:
        found = urlsplit(text)
    except ValueError:
        return False
    return bool(found.scheme) or text.startswith("/")


def _is_duration(text: str) -> bool:
    return bool(_DURATION.fullmatch(text) or _WORDED.fullmatch(text))


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


_RULES: Mapping[str, Callable[[str], bool]] = {
    "byte": _is_base64,
    "cidr": _is_network,
    "date": _is_date,
    "date-time": _matches(_DATE_TIME),
    "datetime": _matches(_DATE_TIME),
    "duration": _is_duration,
    "email": _matches(_EMAIL),
    "hexcolor": _matches(_HEX_COLOR),
    "hostname": _matches(_HOSTNAME),
    "ipv4": _is_address(4),
    "ipv6": _is_address(6),
    "mac": _matches(_MAC),
    "uri": _is_uri,
    "uuid": _matches(_UUID),
}
