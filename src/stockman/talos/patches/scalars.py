"""Scalars as Talos reads and prints them: plain YAML values, addresses, URLs, sizes, durations."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote

from stockman.model.pattern import pattern

ScalarValue = None | bool | int | float | str | datetime

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_YES_WORDS = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})
_NO_WORDS = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF"})
_INFINITE = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_FIRST = frozenset("+-.0123456789")
_INTEGER = pattern(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TIMESTAMP = pattern(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:([Tt ])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?(Z|[-+]\d\d:\d\d)?)?"
)
_LONGEST_NUMBER = 300


def resolve_scalar(text: str) -> ScalarValue:
    """Return the value of an unquoted text, which differs from YAML 1.1 and 1.2."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _INFINITE:
        return _INFINITE[text]
    if text[0] not in _FIRST or len(text) > _LONGEST_NUMBER:
        return text
    return _number(text)


def as_bool(value: ScalarValue, text: str) -> bool | None:
    """Return a boolean, also for words of YAML 1.1; None: it is not one."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return True if text in _YES_WORDS else False if text in _NO_WORDS else None
    return None


def moment_text(value: datetime) -> str:
    """Return a timestamp as Talos prints it."""
    text = value.isoformat()
    if "." in text:
        head, _, fraction = text.partition(".")
        text = f"{head}.{fraction[:6].rstrip('0')}{fraction[6:]}"
    return text.replace("+00:00", "Z") if value.tzinfo == UTC else text


def _number(text: str) -> ScalarValue:
    moment = _moment(text)
    if moment is not None:
        return moment
    digits = text.replace("_", "")
    integer = _INTEGER.fullmatch(digits)
    if integer is not None:
        value = _integer(integer[2])
        value = -value if integer[1] == "-" else value
        if -(1 << 63) <= value < (1 << 64):
            return value
    return float(digits) if _FLOAT.fullmatch(digits) else text


def _integer(digits: str) -> int:
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(digits, 8)
    return int(digits, 0)


def _moment(text: str) -> datetime | None:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, mark, hour, minute, second, fraction, zone = match.groups()
    if mark is not None and (mark == " ") != (zone is None):
        return None
    try:
        return datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(9, "0")[:6]),
            _zone(zone),
        )
    except ValueError:
        return None


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
    return timezone(-offset if text[0] == "-" else offset)


_HEXADECIMAL = pattern(r"(?:[0-9a-fA-F]{2})*")
_SCHEME = pattern(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_PORT = pattern(r"(?::[0-9]*)?")
_ESCAPE = pattern(r"%(?![0-9a-fA-F]{2})")
_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_HOST = pattern(r"[^\s\\^`{|}/?#@%]*")
_IN_PATH = "/:@&=+$,;!'()*~-_."


def parse_address(text: str) -> str:
    """Return an IP address in its shortest form."""
    parsed = ip_address(text)
    if isinstance(parsed, IPv6Address):
        zone = f"%{parsed.scope_id}" if parsed.scope_id else ""
        mapped = parsed.ipv4_mapped
        if mapped is not None:
            return f"::ffff:{mapped}{zone}"
    return str(parsed)


def parse_prefix(text: str) -> str:
    """Return an address with its prefix length, including host bits."""
    host, slash, length = text.rpartition("/")
    if not slash or "%" in host:
        raise ValueError("a network is an address, / and a prefix length")
    bits = 32 if ip_address(host).version == 4 else 128
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", length) or int(length) > bits:
        raise ValueError(f"a prefix length is 0 to {bits}")
    return f"{parse_address(host)}/{length}"


def parse_address_and_port(text: str) -> str:
    """Return an address with a port, `10.0.0.1:51820` or `[::1]:51820`."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch(r"[0-9]+", port) or int(port) > 65535:
        raise ValueError("an address, : and a port from 0 to 65535 are required")
    bracketed = host.startswith("[") and host.endswith("]")
    host = parse_address(host[1:-1] if bracketed else host)
    if (":" in host) != bracketed:
        raise ValueError("an IPv6 address must be in brackets before its port")
    return f"[{host}]:{int(port)}" if bracketed else f"{host}:{int(port)}"


def parse_hardware_address(text: str) -> str:
    """Return bytes in hexadecimal, `52:54:00:12:34:56`."""
    digits = text.replace(":", "")
    if not _HEXADECIMAL.fullmatch(digits):
        raise ValueError("pairs of hexadecimal digits are required")
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2)).lower()


class Url(NamedTuple):
    """The components of a URL, which Talos merges one by one."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""
    empty_query: bool = False
    no_host: bool = False

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            if self.scheme or self.host or self.user is not None:
                hidden = self.no_host and not self.host and self.user is None
                if not hidden and (self.host or self.path or self.user is not None):
                    text += "//"
                text += f"{self.user}@" if self.user is not None else ""
                text += self.host
            path = quote(self.path, safe=_IN_PATH)
            if path and not path.startswith("/") and self.host:
                text += "/"
            text += path
        if self.empty_query or self.query:
            text += f"?{self.query}"
        return text + (f"#{quote(self.fragment, safe=_IN_PATH + '?')}" if self.fragment else "")


def parse_url(text: str) -> Url:
    """Parse a URL; raises ValueError."""
    if _CONTROL.search(text):
        raise ValueError("a URL must not contain control characters")
    remainder, _, fragment = text.partition("#")
    scheme = ""
    match = _SCHEME.match(remainder)
    if match is not None:
        scheme, remainder = match[1].lower(), remainder[match.end() :]
    elif remainder.startswith(":"):
        raise ValueError("the scheme is missing")
    empty_query = remainder.endswith("?") and remainder.count("?") == 1
    remainder, _, query = remainder.partition("?")
    fragment = _unescape(fragment)
    if not remainder.startswith("/"):
        if scheme:
            return Url(scheme, remainder, None, "", "", query, fragment, empty_query)
        if ":" in remainder.partition("/")[0]:
            raise ValueError("the first segment of a path must not contain a colon")
    user, host, no_host = None, "", False
    if remainder.startswith("//") and (scheme or not remainder.startswith("///")):
        authority, slash, path = remainder[2:].partition("/")
        user, host = _authority(authority)
        remainder = slash + path
    elif scheme and remainder.startswith("/"):
        no_host = True
    return Url(scheme, "", user, host, _unescape(remainder), query, fragment, empty_query, no_host)


def merge_urls(left: Url, right: Url) -> Url:
    """Merge two URLs: components of the right one override, its two flags always."""
    if left.user is not None and right.user is not None:
        raise ValueError("Talos cannot merge two URLs that both name a user")
    return Url(
        right.scheme or left.scheme,
        right.opaque or left.opaque,
        right.user if left.user is None else left.user,
        right.host or left.host,
        right.path or left.path,
        right.query or left.query,
        right.fragment or left.fragment,
        right.empty_query,
        right.no_host,
    )


def _authority(text: str) -> tuple[str | None, str]:
    user, at, host = text.rpartition("@")
    _unescape(user)
    if host.startswith("["):
        inside, bracket, port = host.rpartition("]")
        if not bracket or not inside:
            raise ValueError("a bracket is missing")
    else:
        name, colon, digits = host.partition(":")
        if not _HOST.fullmatch(name):
            raise ValueError("the host name has an invalid character")
        port = colon + digits
    if not _PORT.fullmatch(port):
        raise ValueError("the port is not a number")
    return (user if at else None), host


def _unescape(text: str) -> str:
    if _ESCAPE.search(text):
        raise ValueError("% is not followed by two hexadecimal digits")
    return unquote(text)


_UNITS = {"": 1, "b": 1} | {
    name: factor
    for power, letter in enumerate("kmgtpe", start=1)
    for name, factor in (
        (letter, 1000**power),
        (f"{letter}b", 1000**power),
        (f"{letter}i", 1024**power),
        (f"{letter}ib", 1024**power),
    )
}
_SIZE = pattern(r"([0-9.,]*)(.*)", re.DOTALL)
_CONDITION = pattern(r"(>=|<=|>|<|==)?(.*)")
_DURATION_UNIT = pattern(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_NANOSECONDS = {
    "ns": 1,
    "us": 1000,
    "µs": 1000,
    "μs": 1000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST = 1 << 63


def parse_size(text: str) -> int:
    """Return a number of bytes, `10GiB`; raises ValueError."""
    match = _SIZE.match(text)
    number, unit = (match[1], match[2]) if match else ("", "")
    factor = _UNITS.get(unit.strip().lower())
    if factor is None:
        raise ValueError(f"{unit.strip()} is not a unit of bytes")
    if not number.replace(",", "").strip("."):
        raise ValueError("a size starts with a number")
    bytes_ = float(number.replace(",", "")) * factor
    if bytes_ >= 1 << 64:
        raise ValueError("too large")
    return int(bytes_)


def parse_disk_size(text: str) -> int | str:
    """Return a partition size: with a unit if that is exact."""
    bytes_ = parse_size(text)
    size = _size_text(bytes_)
    return size if bytes_ % 1000 == 0 and parse_size(size) == bytes_ else bytes_


def _size_text(bytes_: int) -> str:
    if bytes_ < 10:
        return f"{bytes_} B"
    power = 0
    while bytes_ >= 1000 ** (power + 1):
        power += 1
    value = int(bytes_ / 1000**power * 10 + 0.5) / 10
    unit = ("B", "kB", "MB", "GB", "TB", "PB", "EB")[power]
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def check_signed_size(text: str) -> str:
    """Check a size that may be negative."""
    if text:
        parse_size(text.removeprefix("-"))
    return text


def check_percentage(text: str) -> str:
    """Check a percentage."""
    if not text.endswith("%"):
        raise ValueError("a percentage ends with %")
    number = text[:-1].removeprefix("-")
    if not re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", number):
        raise ValueError("a percentage is a number and %")
    if not 0 <= float(number) <= 100:
        raise ValueError("a percentage is between 0 and 100")
    return text


def check_size_condition(text: str) -> str:
    """Check a comparison with a size, `>= 100GB`."""
    text = text.strip()
    match = _CONDITION.match(text)
    parse_size(match[2].strip() if match else text)
    return text


def parse_nanoseconds(text: str) -> int:
    """Return a duration such as `1h30m` in nanoseconds; raises ValueError."""
    sign, unsigned = 1, text
    if unsigned[:1] in ("-", "+"):
        sign, unsigned = -1 if unsigned[0] == "-" else 1, unsigned[1:]
    if unsigned == "0":
        return 0
    total, at = 0, 0
    while at < len(unsigned):
        match = _DURATION_UNIT.match(unsigned, at)
        if match is None or not (match[1] or match[2]):
            raise ValueError("a time is a number with a unit, such as 90s or 1h30m")
        unit = _NANOSECONDS[match[3]]
        total += int(match[1] or 0) * unit
        if match[2]:
            total += int(match[2]) * unit // 10 ** len(match[2])
        at = match.end()
    if not unsigned or total >= _LONGEST:
        raise ValueError("a time is a number with a unit, such as 90s or 1h30m")
    return sign * total


def duration_text(total: int) -> str:
    sign, total = ("-", -total) if total < 0 else ("", total)
    if total == 0:
        return "0s"
    for unit in ("s", "ms", "µs"):
        if total >= _NANOSECONDS[unit]:
            break
    else:
        return f"{sign}{total}ns"
    if unit != "s":
        return f"{sign}{_decimal(total, _NANOSECONDS[unit])}{unit}"
    minutes, remainder = divmod(total, _NANOSECONDS["m"])
    seconds = f"{_decimal(remainder, _NANOSECONDS['s'])}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(number: int, unit: int) -> str:
    integer, remainder = divmod(number, unit)
    digits = str(remainder).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{integer}.{digits}" if digits else str(integer)
