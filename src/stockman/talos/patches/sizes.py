"""Sizes and times as Talos reads and prints them."""

from __future__ import annotations

import re

from stockman.model.pattern import pattern

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
_PART = pattern(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
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


def size(text: str) -> int:
    """A number of bytes, `10GiB`; raises ValueError."""
    found = _SIZE.match(text)
    number, unit = (found[1], found[2]) if found else ("", "")
    factor = _UNITS.get(unit.strip().lower())
    if factor is None:
        raise ValueError(f"{unit.strip()} is no unit of bytes")
    if not number.replace(",", "").strip("."):
        raise ValueError("a size starts with a number")
    bytes_ = float(number.replace(",", "")) * factor
    if bytes_ >= 1 << 64:
        raise ValueError("too large")
    return int(bytes_)


def disk_size(text: str) -> int | str:
    """A size of a partition: in words where these lose nothing."""
    bytes_ = size(text)
    words = _words(bytes_)
    return words if bytes_ % 1000 == 0 and size(words) == bytes_ else bytes_


def _words(bytes_: int) -> str:
    if bytes_ < 10:
        return f"{bytes_} B"
    power = 0
    while bytes_ >= 1000 ** (power + 1):
        power += 1
    value = int(bytes_ / 1000**power * 10 + 0.5) / 10
    unit = ("B", "kB", "MB", "GB", "TB", "PB", "EB")[power]
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def signed_size(text: str) -> str:
    """The text of a size that may be negative, checked."""
    if text:
        size(text.removeprefix("-"))
    return text


def share(text: str) -> str:
    """The text of a percentage, checked."""
    if not text.endswith("%"):
        raise ValueError("a percentage ends with %")
    number = text[:-1].removeprefix("-")
    if not re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", number):
        raise ValueError("a percentage is a number and %")
    if not 0 <= float(number) <= 100:
        raise ValueError("a percentage is between 0 and 100")
    return text


def condition(text: str) -> str:
    """The text of a comparison with a size, `>= 100GB`, checked."""
    text = text.strip()
    found = _CONDITION.match(text)
    size(found[2].strip() if found else text)
    return text


def nanoseconds(text: str) -> int:
    """A time span, `1h30m`; raises ValueError."""
    sign, rest = 1, text
    if rest[:1] in ("-", "+"):
        sign, rest = -1 if rest[0] == "-" else 1, rest[1:]
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None or not (part[1] or part[2]):
            raise ValueError("a time is a number with a unit, such as 90s or 1h30m")
        unit = _NANOSECONDS[part[3]]
        total += int(part[1] or 0) * unit
        if part[2]:
            total += int(part[2]) * unit // 10 ** len(part[2])
        at = part.end()
    if not rest or total >= _LONGEST:
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
    minutes, rest = divmod(total, _NANOSECONDS["m"])
    seconds = f"{_decimal(rest, _NANOSECONDS['s'])}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
