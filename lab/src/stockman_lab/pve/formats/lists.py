"""Lists in one text, tags, and the start order of guests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.formats.format_error import FormatError

_SEPARATOR = re.compile(r"[,;\s]+")


def split_list(text: str) -> list[str]:
    """Parts of a list; none is empty, except between NULs."""
    if "\0" in text:
        parts = text.split("\0")
        while parts and not parts[-1]:
            parts.pop()
        return parts
    return [part for part in _SEPARATOR.split(text) if part]


@dataclass(frozen=True, slots=True)
class TagStyle:
    """What the data centre says about tags."""

    case_sensitive: bool = False
    keep_order: bool = False


PLAIN = TagStyle()


def print_tags(text: str, style: TagStyle = PLAIN) -> str:
    """Tags as they are stored."""
    tags = split_list(text)
    if not style.keep_order:
        tags.sort(key=str if style.case_sensitive else str.lower)
    return ";".join(dict.fromkeys(tags if style.case_sensitive else map(str.lower, tags)))


def tag_changes(old: str, new: str) -> list[str]:
    """Tags that are added or taken away, sorted; a privilege may be needed for each."""
    before, after = split_list(old), split_list(new)
    return sorted(tag for tag in {*before, *after} if before.count(tag) != after.count(tag))


_PART = re.compile(r"(?:(?:order=)?(\d{1,18})|up=(\d{1,18})|down=(\d{1,18}))", re.ASCII)


@dataclass(frozen=True, slots=True)
class Startup:
    """Place in the order, and seconds to wait; None: not said."""

    order: int | None = None
    up: int | None = None
    down: int | None = None


def parse_startup(text: str) -> Startup:
    """The key `startup`; raises `FormatError`."""
    order = up = down = None
    for part in text.split(","):
        if not part.strip():
            continue
        found = _PART.fullmatch(part)
        if not found:
            raise FormatError("unable to parse startup options")
        if found[1]:
            order = int(found[1])
        elif found[2]:
            up = int(found[2])
        else:
            down = int(found[3])
    if text in ("", "0"):
        raise FormatError("unable to parse startup options")
    return Startup(order, up, down)
